"""The captioners, one file each, and what they are made of."""
