"""The objects node."""
