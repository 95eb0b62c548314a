"""Answer to goal."""
