"""Objects in simulated homes: what a memory of them is worth, and the published rules of others beside it."""
