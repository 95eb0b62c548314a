"""What a run was made with, and what it left on disk."""
