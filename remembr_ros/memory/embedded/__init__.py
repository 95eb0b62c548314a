"""Memories in an embedded Milvus Lite database, searched by an index over its rows. See README.md here."""
