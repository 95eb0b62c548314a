"""Planners to compare with: the floor, the paper's baselines, and what one retrieval gives.

Each file is one, but for forced_answer.py, which has a language model answer.
"""
