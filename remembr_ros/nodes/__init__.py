"""The ROS 2 nodes; nothing else imports rclpy.

A room for each node, whose node.py is the node and parameters.py what can be set; base/ has what they share
and nav2/ how the agent drives. params_file.py checks a file for all of them, launch_arguments.py and
bringup.py say what the launch files start, programs.py runs a node.
"""
