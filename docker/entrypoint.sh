#!/usr/bin/env bash
# Run a command with ROS 2 and this package sourced.
set -eo pipefail
source "/opt/ros/${ROS_DISTRO}/setup.bash"
source /opt/remembr/install/local_setup.bash
exec "$@"
