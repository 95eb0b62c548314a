"""Driving by Nav2: its actions, its maps, and goals that a person confirms. Start at client.py."""
