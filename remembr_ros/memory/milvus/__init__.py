"""milvus."""
