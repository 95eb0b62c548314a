"""Sound input: sources, levels, sample rates, queues. source.py defines the interface."""
