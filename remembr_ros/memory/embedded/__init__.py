"""The embedded memory: rows in a SQLite file, and an index made from them that finds them (README.md)."""
