"""The offline planner's questions about objects."""
