"""What code tells of all memories at once: how many, which, how the robot moved."""
