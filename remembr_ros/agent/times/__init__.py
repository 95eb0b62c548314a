"""times."""
