"""Data sets: memories and questions with what is true, from files or out of recordings."""
