"""The figures of a run as tables, charts, maps and one HTML page."""
