"""A run: planners are asked the questions of a data set. Start at execution.py, then runner.py."""
