"""Scores, their means and intervals, and judges. Start at scores.py."""
