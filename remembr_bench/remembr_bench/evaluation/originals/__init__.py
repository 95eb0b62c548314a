"""The data sets of papers as their authors ship them. Start at episodes.py; a file each."""
