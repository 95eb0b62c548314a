"""The verbs of the evaluation."""
