"""Question to answer."""
