"""Shared by all nodes: parameters, lifecycle, messages, threads. Start at managed_node.py."""
