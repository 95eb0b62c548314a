"""Observations that wait on disk until the server that they belong to is back."""
