"""The bag player node: recordings played to the other nodes. Start at node.py."""
