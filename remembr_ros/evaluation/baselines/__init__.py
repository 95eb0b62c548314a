"""Planners to compare with: the floor, the paper's baselines, and what one retrieval gives."""
