"""Questions about objects: how they are read, and what the rules answer."""
