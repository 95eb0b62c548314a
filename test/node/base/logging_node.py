"""A node that tells Python's logging about itself, from another thread, and warns."""

import logging
import threading
import warnings

from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import ManagedNode


class LoggingNode(ManagedNode):
    """Says all that it has to say when it is loaded."""

    def __init__(self, **kwargs) -> None:
        super().__init__('talker', AgentParameters, **kwargs)

    def load(self) -> None:
        speaker = threading.Thread(target=speak)
        speaker.start()
        speaker.join()
        self.get_logger().info('all is said')


def speak() -> None:
    for name in ('remembr_ros.agent.agent', 'library'):
        logger = logging.getLogger(name)
        logger.debug('debug of %s', name)
        logger.info('info of %s', name)
        logger.warning('warning of %s: %s', name, '\x1b[2J')
    warnings.warn('a poor choice', stacklevel=1)
    try:
        raise ValueError('\x1b[2J of a server')
    except ValueError:
        logging.getLogger('library').exception('it failed')


if __name__ == '__main__':
    logging.basicConfig()  # as a library does, which has all go to standard error once more
    run(LoggingNode)
