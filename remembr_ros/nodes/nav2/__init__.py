"""From an answer's place to a drive by Nav2."""
