"""Baseline planners: a floor, the paper's baselines, and one retrieval.

Each file is one, but for forced_answer.py, which has a language model answer.
"""
