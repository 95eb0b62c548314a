"""A small rendered building with signs, and a robot that drives through it. Start at tour_bag.py."""
