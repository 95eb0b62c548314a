"""Real nodes, as the tests of remembr_ros start them."""

from test.node.conftest import processes, robot

__all__ = ['processes', 'robot']
