"""The embedded database: Milvus Lite keeps the rows, an index beside it finds them (README.md)."""
