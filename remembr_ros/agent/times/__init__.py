"""Moments and windows of time in words, on the asker's clock. Start at time_window.py."""
