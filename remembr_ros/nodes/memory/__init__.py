"""The memory node: sole owner of the store."""
