"""Recordings played to the nodes, and the demo's graph."""
