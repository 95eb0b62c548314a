"""Stays in which nothing changes become one memory: rule.py says which, merging.py makes it one."""
