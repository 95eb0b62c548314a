"""Data sets: memories and questions with what is true. Start at sample.py, then navqa.py or building.py."""
