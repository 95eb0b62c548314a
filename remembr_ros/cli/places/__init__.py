"""The verb about named places."""
