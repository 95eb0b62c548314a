"""The memory for other agents, by the Model Context Protocol."""
