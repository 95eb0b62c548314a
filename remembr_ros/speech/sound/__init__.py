"""Sound as it comes: sources, levels, sample rates, queues."""
