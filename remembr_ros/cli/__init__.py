"""The remembr command, one verb per file."""
