"""Recordings to frames and poses. Start at reader.py; recording.py is the file behind it."""
