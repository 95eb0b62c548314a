"""Questions about places with names."""
