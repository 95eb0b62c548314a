"""The events node."""
