"""Text to vectors. embedder.py says what an embedder is, embedders.py gives one by its name."""
