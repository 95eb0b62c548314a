"""The planner without a language model: rules, and one fitted model of relevance."""
