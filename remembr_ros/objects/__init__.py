"""From detections to persistent objects, without ROS. Start at object_map.py."""
