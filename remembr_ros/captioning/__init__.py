"""Frames to segments to captions."""
