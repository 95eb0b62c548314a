"""The ROS 2 nodes; nothing else imports rclpy."""
