"""What robots did: deeds as memories of the source agent."""
