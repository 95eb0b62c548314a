"""A node whose configuration takes for ever, as that of a large model on a slow disk."""

import time

from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import ManagedNode


class SlowNode(ManagedNode):
    """Loads, and says so."""

    def __init__(self, **kwargs) -> None:
        super().__init__('slow', AgentParameters, **kwargs)

    def load(self) -> None:
        self.get_logger().info('loading')
        while True:
            time.sleep(1.0)  # as a library does, which nobody can interrupt


if __name__ == '__main__':
    run(SlowNode)
