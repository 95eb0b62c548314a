"""What robots did and saw, day by day, as a tree and in words."""
