"""Moments and windows of time in words, on the asker's clock."""
