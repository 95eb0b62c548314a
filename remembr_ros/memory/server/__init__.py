"""Memories on a Milvus server that a fleet of robots shares."""
