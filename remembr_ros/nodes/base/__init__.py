"""What the nodes have in common: parameters, lifecycle, messages, threads. Start at managed_node.py."""
