"""The verbs for what robots did."""
