"""Computed over all memories: how many, which, how the robot moved."""
