"""Sound as it comes: levels, sample rates, queues. source.py says what a source is."""
