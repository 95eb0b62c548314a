"""The agent node: questions and answers, and the drives that come of them. Start at node.py."""
