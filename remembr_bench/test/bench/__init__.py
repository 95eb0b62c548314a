"""Benchmarks: each ratio is against a baseline in the same run."""
