"""From a detector's boxes to things with an id, without ROS: start at object_map."""
