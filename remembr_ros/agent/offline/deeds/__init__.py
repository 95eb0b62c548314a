"""What the rules answer about deeds."""
