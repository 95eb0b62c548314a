"""Homes that a robot visits: furniture, small things, and what becomes of them between two visits."""
