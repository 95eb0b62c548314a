"""Deeds of the robot, recognised from the messages on its graph, without code of the user's."""
