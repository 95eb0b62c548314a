"""What the nodes have in common: parameters, lifecycle, messages, threads."""
