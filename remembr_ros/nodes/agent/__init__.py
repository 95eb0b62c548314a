"""The agent node: questions and answers."""
