"""The memory node: sole owner of the store. Start at node.py."""
