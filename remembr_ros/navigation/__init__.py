"""From answers to navigation goals. Start at plan.py."""
