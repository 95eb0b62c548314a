"""Questions, answers, and the rules by which answers rest on memories.

Start at answer.py, then grounding.py.
"""
