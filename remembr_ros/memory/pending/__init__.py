"""What is not stored yet, and what was forgotten meanwhile. Start at late.py."""
