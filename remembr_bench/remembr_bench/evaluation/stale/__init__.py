"""Stale answers: how often a memory tells where a thing was for where it is."""
