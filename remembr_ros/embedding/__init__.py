"""Text embeddings. embedder.py defines the interface, embedders.py makes one by name."""
