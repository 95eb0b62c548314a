"""Poses out of recorded transforms (TF)."""

import itertools
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from remembr_ros.bags.poses import PoseSource, placed, stamp_of
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


class TfPoses(PoseSource):
    """Poses of one frame in another, see ChainPoses; a static chain gives one for each image."""

    def __init__(self, recording: Recording, chain: Chain, survey: 'TransformSurvey') -> None:
        parent, child = chain
        super().__init__(recording, f'tf {parent} -> {child}', survey.topics)
        self._tree = TransformTree()
        self._chain = ChainPoses(self._tree, parent, child)
        # Static transforms hold from the start, wherever in the recording they are.
        for message in survey.statics:
            add_recorded(self._tree, recording, message)

    def feed(self, message: RawMessage) -> Iterator[StampedPose]:
        """Yield the poses that this message makes known."""
        add_recorded(self._tree, self._recording, message)
        yield from self._chain.new_poses()

    def at_frame(self, stamp_ns: int) -> Iterator[StampedPose]:
        """Yield the pose at an image if nothing in the chain moves."""
        yield from self._chain.pose_if_static(stamp_ns)


class TransformSurvey:
    """Which frames a recording connects, found out before its messages are read.

    :ivar tree: what was found
    :ivar topics: where it was found
    :ivar statics: the messages with static transforms
    :param asked: read until these two frames are connected, to the end if need be
    :param topic: read this topic and the static transforms that belong to it; None: all
    """

    def __init__(self, recording: Recording, asked: Chain | None = None, topic: str | None = None) -> None:
        self._recording = recording
        self.tree = TransformTree()
        self.statics: list[RawMessage] = []
        everywhere = frozenset(found.name for found in recording.of_type(*TF_TYPES))
        self.topics = everywhere if topic is None else _beside(topic, everywhere)
        self._placed_by: dict[str, set[str]] = {}
        static = {name for name in self.topics if is_static(name)}
        moving = self.topics - static
        stop_ns = None if asked else recording.start_ns + SURVEY_NS
        # What lies before a damage will be delivered, and the damage reported then.
        with suppress(BagUnreadable):
            # Latched transforms are few and mostly at the start, and a cut-out part may have them late.
            for message in itertools.islice(recording.messages(static), MAX_STATIC_MESSAGES):
                if add_recorded(self.tree, recording, message):
                    self.statics.append(message)
        wanted = asked or (MAP_FRAME, BASE_FRAMES[0])
        if self.tree.connected(*wanted):
            return
        with suppress(BagUnreadable):
            for message in recording.messages(moving, stop_ns):
                frames = add_recorded(self.tree, recording, message)
                for frame in frames:
                    self._placed_by.setdefault(frame, set()).add(message.topic)
                if not frames or not self.tree.connected(*wanted):
                    continue
                # Of several topics one may contradict the other, later.
                if len(moving) == 1 or message.log_ns >= recording.start_ns + SURVEY_NS:
                    return

    def only(self, chain: Chain) -> Chain:
        """Return the chain.

        :raises BagUnreadable: several topics say where a frame of it is: two robots, say
        """
        for frame in self.tree.links(*chain):
            topics = sorted(self._placed_by.get(frame, ()))
            if len(topics) > 1:
                raise BagUnreadable(
                    f'{self._recording.path} has {len(topics)} topics that say where {frame!r} is: '
                    f'{", ".join(topics)}; choose one with --pose-topic'
                )
        return chain

    def chain(self, image_frame: str, roots: tuple[str, ...] = (MAP_FRAME, *OTHER_ROOTS)) -> Chain | None:
        """Return the chain that says where the robot is; None if there is none.

        :param image_frame: the camera's frame, where the robot's base is not in the tree
        :param roots: what poses may refer to, best first; with more than the map also the tree's own root,
            unless that is the robot itself
        :raises BagUnreadable: several topics say where the robot is
        """
        known = set(self.tree.frames)
        children = [frame for frame in (*BASE_FRAMES, image_frame.lstrip('/')) if frame in known]
        for root, child in itertools.product(roots, children):
            if root != child and root in known and self.tree.connected(root, child):
                return self.only((root, child))
        if roots == (MAP_FRAME,):
            return None
        for child in children:
            root = self.tree.root(child)
            if root not in (child, *BASE_FRAMES) and self.tree.moves(root, child):
                return self.only((root, child))
        return None


def asked_chain(recording: Recording, asked: Chain) -> TfPoses:
    """Return the poses of the chain that was asked for.

    :raises InvalidRequest: twice the same frame, or no name
    :raises BagUnreadable: the recording does not connect the two frames, or several topics do
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
    return TfPoses(recording, survey.only((parent, child)), survey)


def is_static(topic: str) -> bool:
    """Return whether a topic's transforms hold at any time."""
    return topic.rstrip('/').endswith('tf_static')


def _beside(topic: str, topics: frozenset[str]) -> frozenset[str]:
    """Return a TF topic and the static ones of its namespace; all static ones if it has none."""
    namespace = topic.rpartition('/')[0]
    static = {name for name in topics if is_static(name)}
    own = {name for name in static if name.rpartition('/')[0] == namespace}
    return frozenset({topic, *(own or static)})


def add_recorded(tree: TransformTree, recording: Recording, message: RawMessage) -> list[str]:
    """Add a recorded TF message's transforms to a tree; return the child frames of those that make sense."""
    received = recording.deserialize_or_skip(message)
    static = is_static(message.topic)
    return [] if received is None else add_transforms(tree, received, message.log_ns, static=static)


def add_transforms(tree: TransformTree, message: Any, arrival_ns: int, *, static: bool) -> list[str]:
    """Add the transforms of a tf2_msgs/TFMessage to a tree; return the child frames of those that make sense.

    :param arrival_ns: stands in for a stamp of zero, or one that cannot be
    """
    added = []
    for transform in message.transforms:
        t, q = transform.transform.translation, transform.transform.rotation
        if tree.add(
            transform.header.frame_id,
            transform.child_frame_id,
            stamp_of(transform.header, arrival_ns),
            (t.x, t.y, t.z),
            (q.x, q.y, q.z, q.w),
            static=static,
        ):
            added.append(transform.child_frame_id.strip().lstrip('/'))
    return added


class ChainPoses:
    """Follows a chain of transforms, recorded or live, so that both give the same poses.

    Where several transforms move, a pose is known as soon as all of them are: at each time at which one was
    sampled, the others interpolated. A chain of static transforms only has a pose at any time.

    :param tree: others add to it
    :param parent: the frame that poses refer to
    :param child: the frame that moves in it
    """

    def __init__(self, tree: TransformTree, parent: str, child: str) -> None:
        self._tree = tree
        self._parent = parent
        self._child = child
        self._last_ns: int | None = None

    @property
    def connected(self) -> bool:
        """Whether transforms lead from one frame to the other, at whatever time."""
        return self._tree.connected(self._parent, self._child)

    def new_poses(self) -> Iterator[StampedPose]:
        """Yield the poses that have become known since the last call, in the order of time."""
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

    def pose_if_static(self, stamp_ns: int) -> Iterator[StampedPose]:
        """Yield the pose at this time if nothing in the chain moves: a camera that is screwed to a wall."""
        if self.connected and not self._tree.moves(self._parent, self._child):
            yield from self._at(stamp_ns)

    def _at(self, stamp_ns: int) -> Iterator[StampedPose]:
        try:
            point, rotation = self._tree.lookup(self._parent, self._child, stamp_ns)
        except StalePose:  # a re-parented frame, or one that is not there yet
            return
        yield StampedPose(stamp_ns, placed(point, rotation, self._child), self._parent)
