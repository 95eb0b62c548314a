"""Recordings to frames and poses."""
