"""Audio to question."""
