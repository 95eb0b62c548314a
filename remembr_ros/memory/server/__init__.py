"""Memories on a Milvus server that a fleet of robots shares.

opening.py gives a ServerEngine, see engine.py.
"""
