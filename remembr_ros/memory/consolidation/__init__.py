"""Stays in which nothing changes become one memory."""
