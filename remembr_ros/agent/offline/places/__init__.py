"""The offline planner's questions about named places."""
