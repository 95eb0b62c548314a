"""The planner with a language model: its loop, tools, evidence, budget and prompts."""
