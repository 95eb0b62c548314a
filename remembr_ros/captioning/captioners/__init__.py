"""The captioners, and what they are made of. captioner.py says what one is, by_name.py gives it."""
