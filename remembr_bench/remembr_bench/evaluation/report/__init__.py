"""Figures of a run as tables, maps and one HTML page, and comparisons of runs. Start at page.py."""
