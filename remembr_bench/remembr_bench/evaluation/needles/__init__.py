"""Needles in the haystack of a long trajectory through a home: questions, what is right, and figures."""
