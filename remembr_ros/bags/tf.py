"""Poses out of recorded transforms (TF)."""

import itertools
from collections.abc import Iterator

from remembr_ros.bags.poses import placed, stamp_of
from remembr_ros.bags.recording import RawMessage, Recording
from remembr_ros.bags.transforms import MAX_LATE_NS, TransformTree
from remembr_ros.errors import BagUnreadable, InvalidRequest, StalePose
from remembr_ros.geometry import StampedPose
from remembr_ros.timestamps import NS

TF_TYPES = ('tf2_msgs/msg/TFMessage', 'tf/msg/tfMessage')

MAP_FRAME = 'map'
OTHER_ROOTS = ('odom', 'world')
BASE_FRAMES = ('base_link', 'base_footprint')

SURVEY_NS = 120 * NS
"""So much of a recording is searched for a chain from 'map'; localisation may start late, but not later."""

MAX_STATIC_MESSAGES = 1000

Chain = tuple[str, str]
"""The frame that poses refer to, and the frame that moves in it."""


class TfPoses:
    """Poses of one frame in another, as often as transforms between them come.

    Where several transforms move, a pose is known as soon as all of them are: at each time at which one was
    sampled, the others interpolated. A chain of static transforms only gives a pose for each image.
    """

    datum: tuple[float, float, float] | None = None

    def __init__(self, recording: Recording, chain: Chain, statics: list[RawMessage]) -> None:
        self._parent, self._child = chain
        self.name = f'tf {self._parent} -> {self._child}'
        self.topics = frozenset(topic.name for topic in recording.of_type(*TF_TYPES))
        self._recording = recording
        self._tree = TransformTree()
        self._last_ns: int | None = None
        # Static transforms hold from the start, wherever in the recording they are.
        for message in statics:
            add_transforms(self._tree, recording, message)

    def feed(self, message: RawMessage) -> Iterator[StampedPose]:
        """Yield the poses that this message makes known."""
        add_transforms(self._tree, self._recording, message)
        newest = self._tree.latest_common(self._parent, self._child)
        if newest is None:
            return
        if self._last_ns is not None and newest < self._last_ns - MAX_LATE_NS:
            # Time jumped back: the links that have not followed yet say where they were before.
            self._last_ns = None
            self._tree.start_over(self._parent, self._child, newest)
        for stamp_ns in self._tree.samples(self._parent, self._child, self._last_ns):
            yield from self._at(stamp_ns)
            self._last_ns = stamp_ns

    def at_frame(self, stamp_ns: int) -> Iterator[StampedPose]:
        """Yield the pose at an image if nothing in the chain moves."""
        if not self._tree.moves(self._parent, self._child):
            yield from self._at(stamp_ns)

    def _at(self, stamp_ns: int) -> Iterator[StampedPose]:
        try:
            point, rotation = self._tree.lookup(self._parent, self._child, stamp_ns)
        except StalePose:  # a re-parented frame, or one that is not there yet
            return
        yield StampedPose(stamp_ns, placed(point, rotation, self._child), self._parent)


class TransformSurvey:
    """Which frames a recording connects, found out before its messages are read.

    :param asked: read until these two frames are connected, to the end if need be
    """

    def __init__(self, recording: Recording, asked: Chain | None = None) -> None:
        self._recording = recording
        self.tree = TransformTree()
        self.statics: list[RawMessage] = []
        topics = recording.of_type(*TF_TYPES)
        static = {topic.name for topic in topics if is_static(topic.name)}
        moving = {topic.name for topic in topics} - static
        stop_ns = None if asked else recording.start_ns + SURVEY_NS
        try:
            # Latched transforms are few and mostly at the start, and a cut-out part may have them late.
            for message in itertools.islice(recording.messages(static), MAX_STATIC_MESSAGES):
                if add_transforms(self.tree, recording, message):
                    self.statics.append(message)
            if self._enough(asked):
                return
            for message in recording.messages(moving, stop_ns):
                if add_transforms(self.tree, recording, message) and self._enough(asked):
                    return
        except BagUnreadable:
            return  # what lies before the damage will be delivered, and the damage reported then

    def _enough(self, asked: Chain | None) -> bool:
        return self.tree.connected(*(asked or (MAP_FRAME, BASE_FRAMES[0])))

    def chain(self, image_frame: str, roots: tuple[str, ...] = (MAP_FRAME, *OTHER_ROOTS)) -> Chain | None:
        """Return the chain that says where the robot is; None if there is none.

        :param image_frame: the camera's frame, where the robot's base is not in the tree
        :param roots: what poses may refer to, best first; with more than the map also the tree's own root,
            unless that is the robot itself
        """
        known = set(self.tree.frames)
        children = [frame for frame in (*BASE_FRAMES, image_frame.lstrip('/')) if frame in known]
        for root, child in itertools.product(roots, children):
            if root != child and root in known and self.tree.connected(root, child):
                return root, child
        if roots == (MAP_FRAME,):
            return None
        for child in children:
            root = self.tree.root(child)
            if root not in (child, *BASE_FRAMES) and self.tree.moves(root, child):
                return root, child
        return None


def asked_chain(recording: Recording, asked: Chain) -> TfPoses:
    """Return the poses of the chain that was asked for.

    :raises InvalidRequest: twice the same frame, or no name
    :raises BagUnreadable: the recording does not connect the two frames
    """
    parent, child = (frame.strip().lstrip('/') for frame in asked)
    if not parent or not child or parent == child:
        raise InvalidRequest(f'--tf needs two different frames, not {parent!r} and {child!r}')
    survey = TransformSurvey(recording, (parent, child))
    if not survey.tree.connected(parent, child):
        raise BagUnreadable(
            f'{recording.path} has no transforms from {parent!r} to {child!r}; '
            f'frames to choose from with --tf: {", ".join(survey.tree.frames) or "none"}; '
            f'{recording.describe_topics()}'
        )
    return TfPoses(recording, (parent, child), survey.statics)


def is_static(topic: str) -> bool:
    """Return whether a topic's transforms hold at any time."""
    return topic.rstrip('/').endswith('tf_static')


def add_transforms(tree: TransformTree, recording: Recording, message: RawMessage) -> bool:
    """Add a TF message's transforms to a tree; return whether there was one that makes sense."""
    received = recording.deserialize_or_skip(message)
    if received is None:
        return False
    added = False
    for transform in received.transforms:
        t, q = transform.transform.translation, transform.transform.rotation
        added |= tree.add(
            transform.header.frame_id,
            transform.child_frame_id,
            stamp_of(transform.header, message.log_ns),
            (t.x, t.y, t.z),
            (q.x, q.y, q.z, q.w),
            static=is_static(message.topic),
        )
    return added
