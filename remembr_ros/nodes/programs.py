"""The programs that `ros2 run` and the launch files start: each imports its node when it is run.

Which takes a second or two, in which a Ctrl-C would else end in a traceback from the middle of an import.
"""

from functools import partial
from importlib import import_module

from remembr_ros.stop import end_at_once_on_signals


def _run(room: str) -> None:
    end_at_once_on_signals()  # until the node sets handlers of its own
    import_module(f'remembr_ros.nodes.{room}.node').main()


captioner = partial(_run, 'captioner')
memory = partial(_run, 'memory')
agent = partial(_run, 'agent')
events = partial(_run, 'events')
objects = partial(_run, 'objects')
speech = partial(_run, 'speech')
web = partial(_run, 'web')
bag_player = partial(_run, 'replay')
