"""The offline planner's questions about deeds."""
