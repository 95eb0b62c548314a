"""From camera frames to segments to captions.

segmenter.py cuts, placer.py gives a segment its place, observation.py has it described: start there.
captioners/ are who describes.
"""
