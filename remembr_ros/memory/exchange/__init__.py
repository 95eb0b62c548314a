"""Memories from and into files: the portable format, captions files, street views."""
