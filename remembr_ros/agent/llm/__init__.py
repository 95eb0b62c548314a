"""The planner with a language model: its tools, evidence, budget and prompts. Start at loop.py."""
