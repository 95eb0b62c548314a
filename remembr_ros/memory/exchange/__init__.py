"""Memories from and into files: the portable format, captions files, street views. Start at transfer.py."""
