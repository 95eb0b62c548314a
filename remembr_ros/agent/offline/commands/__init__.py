"""What people want done: commands, and what of them a memory can do."""
