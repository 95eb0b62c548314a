"""Captioners. captioner.py defines the interface, by_name.py makes one by name."""
