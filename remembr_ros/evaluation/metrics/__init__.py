"""Scores, their means and intervals, judges, and comparisons of runs."""
