"""The figures of a run as tables, charts, maps and one HTML page, and runs compared. Start at page.py."""
