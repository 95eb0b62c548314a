"""Answer to goal. Start at plan.py."""
