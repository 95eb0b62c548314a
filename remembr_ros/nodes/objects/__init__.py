"""What the nodes have to do with objects."""
