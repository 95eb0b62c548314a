"""Places with names: rooms, desks, docks."""
