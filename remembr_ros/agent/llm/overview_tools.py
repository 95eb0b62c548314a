"""Tools that go over all memories of a time and place, not the best few."""
