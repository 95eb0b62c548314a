"""Milvus as both engines use it: filters, rows of collections, Lite's process. Start at client.py."""
