"""Messages as recordings give them: plain objects with the fields of the ROS types."""

from types import SimpleNamespace as Message

from remembr_ros.timestamps import NS

T = 1_700_000_000 * NS
ACCEPTED, EXECUTING, CANCELING, SUCCEEDED, CANCELED, ABORTED = 1, 2, 3, 4, 5, 6


def stamp(ns: int) -> Message:
    return Message(sec=ns // NS, nanosec=ns % NS)


def uuid(number: int) -> Message:
    return Message(uuid=number.to_bytes(16, 'big'))


def status(*goals: tuple[int, int, int]) -> Message:
    """Return the status of goals given as number, when it was accepted and how it is."""
    return Message(
        status_list=[
            Message(goal_info=Message(goal_id=uuid(number), stamp=stamp(ns)), status=how)
            for number, ns, how in goals
        ]
    )


def pose(x: float, frame: str = 'map') -> Message:
    at = Message(x=x, y=0.0, z=0.0)
    turned = Message(x=0.0, y=0.0, z=0.0, w=1.0)
    return Message(header=Message(frame_id=frame), pose=Message(position=at, orientation=turned))


def path(x: float, frame: str = 'map') -> Message:
    return Message(header=Message(frame_id=frame), poses=[pose(0.0), pose(x)])


def tree(ns: int, *changes: tuple[str, str, str]) -> Message:
    return Message(
        timestamp=stamp(ns),
        event_log=[
            Message(node_name=name, previous_status=before, current_status=after)
            for name, before, after in changes
        ],
    )
