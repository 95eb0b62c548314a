"""Reading questions about how the robot moved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.offline.motion_questions import parse_motion
from remembr_ros.agent.offline.relation import RelationKind
from remembr_ros.agent.overview.motion_answer import Moved
from remembr_ros.memory.motion.motion import Motion

BOTH = ('the lift', 'the exit')
LEFT, RIGHT = Motion.LEFT, Motion.RIGHT
AFTER, BEFORE, AT, BETWEEN = (
    RelationKind.AFTER,
    RelationKind.BEFORE,
    RelationKind.WHILE,
    RelationKind.BETWEEN,
)


@pytest.mark.parametrize(
    ('text', 'what', 'side', 'relation', 'anchors'),
    [
        ('Did you turn right after the bridge?', Moved.TURN, RIGHT, AFTER, ('the bridge',)),
        ('After the bridge, did you turn right?', Moved.TURN, RIGHT, AFTER, ('the bridge',)),
        ('How many left turns did you make?', Moved.TURN, LEFT, None, ()),
        ('Which way did you turn after leaving the building?', Moved.TURN, None, AFTER, ('the building',)),
        ('Did you turn left or right at the lift?', Moved.TURN, None, AT, ('the lift',)),
        ('Did you make a U-turn?', Moved.TURN, None, None, ()),
        ('How long did you wait at the crossing?', Moved.STOP, None, AT, ('the crossing',)),
        ('Did you stop in front of the building?', Moved.STOP, None, AT, ('the building',)),
        ('How many stops were there before you got to the lift?', None, None, None, ()),
        ('How many stops did you make before you got to the lift?', Moved.STOP, None, BEFORE, ('the lift',)),
        ('Where did you stop first?', Moved.STOP, None, None, ()),
        (
            'Which way did you face when you saw the "EXIT" sign?',
            Moved.HEADING,
            None,
            AT,
            ('the "EXIT" sign',),
        ),
        ('What was your heading?', Moved.HEADING, None, None, ()),
        ('How fast were you at the library?', Moved.SPEED, None, AT, ('the library',)),
        ('How fast did you drive on average?', Moved.SPEED, None, None, ()),
        (
            'How far did you drive from the lift to the exit?',
            Moved.DISTANCE,
            None,
            BETWEEN,
            ('the lift', 'the exit'),
        ),
        ('What distance did you cover in total?', Moved.DISTANCE, None, None, ()),
        ('Were you moving?', Moved.GOING, None, None, ()),
        ('When did you start moving again after the lift?', Moved.GOING, None, AFTER, ('the lift',)),
        ('What was on your left when you passed the lift?', Moved.SIDE, LEFT, AT, ('the lift',)),
        ('Did the car turn right?', None, None, None, ()),
        ('Where is the bus stop?', None, None, None, ()),
        ('Were you driving on the left side of the sidewalk?', None, None, None, ()),
        ('What does "YOU TURN LEFT" say?', None, None, None, ()),
    ],
)
def test_reads_what_is_asked(
    text: str,
    what: Moved | None,
    side: Motion | None,
    relation: RelationKind | None,
    anchors: tuple[str, ...],
) -> None:
    found = parse_motion(text)
    if what is None:
        assert found is None
        return
    assert found is not None
    assert (found.asked.what, found.asked.side, found.relation, found.anchors) == (
        what,
        side,
        relation,
        anchors,
    )


def test_reads_which_and_how_long() -> None:
    longest = parse_motion('How long was your longest stop?')
    assert longest is not None
    assert longest.asked.longest
    minute = parse_motion('How many times did you stop for more than 2 minutes?')
    assert minute is not None
    assert (minute.asked.least_s, minute.anchors) == (120, ())
    now = parse_motion('Are you moving?')
    assert now is not None
    assert now.now


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    parse_motion(text)
    parse_motion(f'Did you turn left after {text}?')
