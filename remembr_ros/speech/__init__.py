"""From audio to questions.

Start at listener.py, which cuts, transcribes and judges; sound/ is where it comes from.
"""
