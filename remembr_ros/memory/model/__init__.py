"""What a memory is, what can be asked of memories, and what keeps them."""
