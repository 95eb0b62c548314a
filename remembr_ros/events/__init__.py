"""What the robot does, as the messages on its graph tell; nobody has to write a line for it."""
