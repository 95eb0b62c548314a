"""Recordings as frames and poses. Start at reader.py; recording.py reads the files."""
