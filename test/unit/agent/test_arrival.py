"""What a look on arrival comes to, and where a thing may be next."""

from dataclasses import replace

import pytest

from remembr_ros.agent.arrival import Errand, Look, errand_of, likely_places, looked
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import NS
from test.object_room import BOOK, CUP, FRIDGE, HOUR_NS, ROOM, TABLE, VISITS, thing
from test.object_scene import T0
from test.unit.agent.listed_recall import ListedRecall

ARRIVAL_NS = T0 + 3 * HOUR_NS
SEEN_NS = ARRIVAL_NS + 5 * NS
HERE = Pose(0.0, 1.0)


def caption(text: str, at: Pose = HERE, start_ns: int = SEEN_NS, captioner: str = 'vlm') -> Memory:
    return Memory(f'{text} {start_ns}', 'robbie', start_ns, start_ns + NS, text, at, captioner=captioner)


def look(*memories: Memory, errand: Errand | None = None, late: bool = False):
    errand = errand or errand_of('', CUP.memory, 'robbie')
    return looked(errand, ListedRecall(memories), ARRIVAL_NS, late=late)


def now(known, **changes):
    """Return an object as it is known after the robot's arrival."""
    at = known.position[0], known.position[1], known.position[2] - known.size[2] / 2.0
    facts = {'colour': known.facts.colour, 'id': known.id} | changes
    return thing(known.name, at, known.size, **facts).memory


SEEN = now(CUP, intervals=(*VISITS, (SEEN_NS, SEEN_NS + NS)))
EMPTY = now(CUP, absences=((SEEN_NS, SEEN_NS + NS),))
EMPTY_BEFORE = now(CUP, absences=((ARRIVAL_NS - 9 * NS, ARRIVAL_NS - 8 * NS),))
FILLED = now(CUP, looked=SEEN_NS)
BY_CAPTION = Errand('the red cup', caption('There is a red cup on a table.', start_ns=T0), 'robbie')
TABLES = [caption('I see a table.', start_ns=SEEN_NS + i * NS) for i in range(2)]


@pytest.mark.parametrize(
    ('memories', 'early', 'late', 'why'),
    [
        ([], Look.OPEN, Look.UNSURE, 'no camera'),
        ([SEEN], Look.SEEN, Look.SEEN, 'there'),
        ([EMPTY], Look.GONE, Look.GONE, 'empty'),
        ([EMPTY_BEFORE], Look.OPEN, Look.UNSURE, 'no camera'),
        ([FILLED], Look.OPEN, Look.UNSURE, 'do not recognise'),
        ([CUP.memory, caption('I see a wall.')], Look.OPEN, Look.UNSURE, 'not in view'),
        ([CUP.memory, *TABLES], Look.OPEN, Look.GONE, '2 looks'),  # what follows objects may know better
    ],
)
def test_an_object_is_looked_for_by_what_follows_objects(memories, early, late, why) -> None:
    assert look(*memories).look is early
    finding = look(*memories, late=True)
    assert finding.look is late
    assert why in finding.why


@pytest.mark.parametrize(
    ('memories', 'early'),
    [
        ([caption('I see a red cup.')], Look.SEEN),
        ([caption('I see a red cup.', start_ns=ARRIVAL_NS - NS)], Look.OPEN),  # began on the way
        ([caption('I see a blue cup.')], Look.OPEN),
        (TABLES[:1], Look.OPEN),
        (TABLES, Look.GONE),
        # What the robot sees while it stands is one memory, which is extended; it may have begun on the way.
        ([replace(TABLES[0], merged=2)], Look.GONE),
        ([replace(TABLES[0], start_ns=ARRIVAL_NS - 3 * NS, end_ns=ARRIVAL_NS + 6 * NS, merged=3)], Look.GONE),
        ([replace(TABLES[0], start_ns=ARRIVAL_NS - 3 * NS, end_ns=ARRIVAL_NS + 3 * NS, merged=2)], Look.OPEN),
        ([replace(caption('A red cup.'), start_ns=ARRIVAL_NS - 3 * NS, merged=4)], Look.SEEN),
        ([caption('EXIT', start_ns=SEEN_NS + i, captioner='scene_text') for i in range(3)], Look.OPEN),
        ([SEEN], Look.SEEN),
    ],
)
def test_what_was_described_is_looked_for_by_captions_and_objects(memories, early) -> None:
    assert look(*memories, errand=BY_CAPTION).look is early


def test_what_was_moved_beside_its_place_is_seen_where_it_is() -> None:
    new = thing('cup', (-0.3, 0.1, 0.76), (0.08, 0.08, 0.1), colour='red', id='new',
                intervals=((SEEN_NS, SEEN_NS + NS),))  # fmt: skip
    finding = look(EMPTY, new.memory)
    assert finding.memory is not None
    assert (finding.look, finding.memory.id) == (Look.SEEN, 'new')


def test_others_of_the_kind_are_not_it() -> None:
    other = now(CUP, id='other', colour='blue', intervals=((SEEN_NS, SEEN_NS + NS),))
    assert look(CUP.memory, other).look is Look.OPEN


def test_an_errand_is_to_the_object_of_a_deed_or_to_what_the_question_names() -> None:
    put = deed(T0, T0, kind='place', object='mug', object_id='cup').memory('robbie')
    assert (errand_of('', put, 'robbie').thing, errand_of('', put, 'robbie').object_id) == ('mug', 'cup')
    assert errand_of('the lift', caption('A lift.'), 'robbie').thing == 'the lift'
    assert errand_of('', caption('A lift.'), 'robbie').thing == 'A lift.'
    assert errand_of('', CUP.memory, 'robbie').thing == 'red cup'


def where(*memories: Memory, errand: Errand | None = None, way_m: float = 60.0) -> list[str]:
    errand = errand or errand_of('', CUP.memory, 'robbie')
    return [memory.id for memory in likely_places(errand, ListedRecall(memories), HERE, way_m=way_m)]


def test_likely_places_carry_others_or_are_large_and_are_not_where_it_was() -> None:
    found = where(*(one.memory for one in (*ROOM, CUP)))
    assert found[0] == FRIDGE.id
    assert TABLE.id not in found  # it was there
    assert BOOK.id not in found


def test_it_is_searched_first_where_it_was_before() -> None:
    moves = ((T0, T0 + NS, (5.0, 0.0, 0.0), (0.0, 0.0, 0.0)),)
    found = where(now(CUP, moves=moves), FRIDGE.memory)
    assert found[0] == CUP.id


def test_captions_and_named_places_tell_where_it_may_be() -> None:
    named = place('kitchen', outline=[(8.0, 8.0), (9.0, 8.0), (9.0, 9.0)], robot='robbie', now_ns=T0).memory
    seen = caption('I see a red cup on a shelf.', Pose(5.0, 5.0), T0 - HOUR_NS)
    errand = replace(BY_CAPTION, memory=replace(BY_CAPTION.memory, pose=HERE))
    assert where(errand.memory, seen, named, errand=errand) == [seen.id, named.id]
    assert where(errand.memory, seen, named, errand=errand, way_m=7.0) == [seen.id]
