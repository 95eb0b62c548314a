"""The speech node: sound becomes questions, and answers become sound."""
