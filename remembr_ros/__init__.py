"""A memory for robots: what was seen, where and when, and answers that become goals."""

__version__ = '0.1.0'
