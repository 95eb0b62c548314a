"""What `remembr demo` runs: a graph of nodes, or where there is no ROS one process alone."""
