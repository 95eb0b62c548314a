"""Objects in simulated homes: what a memory of them is worth."""
