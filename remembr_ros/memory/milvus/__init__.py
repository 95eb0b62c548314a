"""Milvus as both engines use it: its client, the rows of its collections, filters, and Lite's process."""
