"""The places of a map: its rooms."""
