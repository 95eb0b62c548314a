"""Memories from and into files: the portable format, captions files. Start at transfer.py."""
