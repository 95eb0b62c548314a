"""What a run was made with, and what it leaves in its folder. Start at record.py."""
