"""Tasks that a robot carries out step by step in the home that it remembers."""
