"""Memories and scopes for tests: of few robots, maps, places and times, so that these meet."""

from collections.abc import Iterable

from hypothesis import strategies as st

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.outline import Outline, outline_of
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import SOURCES, Memory
from remembr_ros.timestamps import NS

ROBOTS = ('', 'anna', 'bert')
MAPS = ('', 'anna', 'floor 2')  # a map may be called as a robot is

seconds = st.integers(0, 4000)
poses = st.builds(Pose, st.integers(-6, 6).map(float), st.integers(-6, 6).map(float))


def outlined(seen: Iterable[Memory]) -> Outline:
    """Return the outline of memories."""
    return outline_of(
        (m.id, m.start_ns, m.end_ns, m.pose.position if m.pose else None, m.robot, m.map_id, m.source)
        for m in seen
    )


@st.composite
def memories(draw: st.DrawFn, most: int = 30) -> list[Memory]:
    """Draw memories with ids of their own, in any order."""
    found = []
    for number in draw(st.permutations(range(draw(st.integers(0, most))))):
        start_s = draw(seconds)
        found.append(
            Memory(
                f'{number:02}',
                draw(st.sampled_from(ROBOTS)),
                start_s * NS,
                (start_s + draw(st.integers(0, 900))) * NS,
                '',
                draw(st.none() | poses),
                map_id=draw(st.sampled_from(MAPS)),
                source=draw(st.sampled_from(['captioner', *SOURCES])),
            )
        )
    return found


@st.composite
def scopes(draw: st.DrawFn) -> Scope:
    """Draw scopes of any kind."""
    after, before = sorted((draw(seconds), draw(seconds)))
    is_near = draw(st.booleans())
    return Scope(
        after_ns=draw(st.sampled_from([None, after * NS])),
        before_ns=draw(st.sampled_from([None, before * NS])),
        near=draw(poses).position if is_near else None,
        radius_m=float(draw(st.integers(0, 8))) if is_near else None,
        robots=tuple(draw(st.sets(st.sampled_from([*ROBOTS, 'nobody'])))),
        map_id=draw(st.sampled_from([None, None, *MAPS, 'nowhere'])),
        source=draw(st.sampled_from([None, None, *SOURCES])),
    )
