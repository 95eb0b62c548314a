"""The nodes as programs. Each imports its node when it is run: seconds, which a Ctrl-C may end quietly."""

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
