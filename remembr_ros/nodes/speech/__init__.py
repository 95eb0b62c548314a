"""The speech node: from sound to questions, from answers to sound. Start at node.py."""
