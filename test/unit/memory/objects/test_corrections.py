"""What a person says of objects, and what comes of it."""

from dataclasses import replace

import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.objects.corrections import ObjectCorrection, corrected
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.objects.wording import DELETED, is_called, presence_note
from remembr_ros.timestamps import NS
from test.object_room import CUP, HOUR_NS, ROOM, VISITS, thing
from test.object_scene import T0

NOW = T0 + 3 * HOUR_NS
OTHER = thing(
    'cup',
    (0.4, 0.1, 0.76),
    (0.1, 0.1, 0.1),
    id='other',
    intervals=VISITS[1:],
    labels={'mug': 2.0, 'cup': 1.0},
)
MOVED = thing(
    'vase',
    (3.0, 3.0, 0.0),
    (0.1, 0.1, 0.2),
    moves=((VISITS[0][1], VISITS[1][0], (-3.0, -3.0, 0.76), (0.0, 0.0, 0.0)),),
    sightings=((T0, (-3.0, -3.0, 0.76), (0.0, 0.0, 1.0)), (VISITS[1][1], (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))),
)
ALL = (*ROOM, OTHER, MOVED)


def told(
    action: str, name: str = 'cup', known: tuple[KnownObject, ...] = ALL, **more: object
) -> list[KnownObject]:
    memories, _ = corrected(known, ObjectCorrection(action, name, **more), NOW)  # type: ignore[arg-type]
    return [known_objects([memory], deleted=True)[0] for memory in memories]


def test_a_name_is_kept_beside_that_of_the_detector() -> None:
    [named] = told('rename', name='cup')
    assert named.name == 'cup'
    [named] = told('rename', 'cup')
    corrected_ones, _ = corrected(ALL, ObjectCorrection('rename', 'cup', name="  Grandma's  chalice "), NOW)
    [named] = known_objects(corrected_ones)
    assert (named.name, named.recognised_as) == ("Grandma's chalice", 'cup')
    assert named.memory.caption == "Grandma's chalice, a red cup."
    assert all(is_called(named, text) for text in ('chalice', 'cup', 'red cups', 'mug'))
    again, _ = corrected([named], ObjectCorrection('rename', 'cup'), NOW)
    assert known_objects(again)[0].name == 'cup'


def test_what_is_gone_is_missing_until_it_is_taken_back() -> None:
    [gone] = told('gone')
    assert (gone.missing_ns, gone.presence) == (NOW, 'missing')
    assert gone.memory.caption.endswith('which is gone.')
    assert presence_note(gone.memory, NOW + NS).startswith('a person said at ')
    [there] = told('there', known=(gone,))
    assert there.memory == CUP.memory
    # What was missing anyhow stays so.
    absent = thing('bag', (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), intervals=VISITS[:1], absences=(VISITS[1],))
    [gone] = told('gone', 'bag', (absent,))
    assert told('there', 'bag', (gone,))[0].missing_ns == VISITS[1][0]


def test_what_is_deleted_is_no_object_and_can_be_taken_back() -> None:
    [deleted] = told('delete')
    assert known_objects([deleted.memory]) == []
    assert deleted.memory.caption == DELETED
    assert known_objects([told('there', known=(deleted,))[0].memory])[0].name == 'cup'


def test_two_that_are_one_have_what_is_known_of_both() -> None:
    memories, gone = corrected(ALL, ObjectCorrection('merge', 'other', other='cup'), NOW)
    [one] = known_objects(memories)
    assert gone == ['other']
    assert (one.id, one.facts.aliases) == ('cup', ('other',))
    assert one.position == pytest.approx(OTHER.position) or one.position == pytest.approx(CUP.position)
    assert one.facts.labels == {'cup': 4.0, 'mug': 2.0}
    assert one.facts.observations == 18
    assert one.facts.intervals == VISITS
    assert (one.memory.start_ns, one.memory.end_ns) == (VISITS[0][0], VISITS[1][1])
    assert corrected([one], ObjectCorrection('rename', 'other', name='x'), NOW)[0][0].id == 'cup'


def test_two_that_are_one_and_apart_were_moved() -> None:
    then = thing('cup', (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), id='then', intervals=VISITS[:1])
    now = thing('cup', (2.0, 1.0, 0.0), (0.1, 0.1, 0.1), id='now', intervals=VISITS[1:])
    turned = replace(now, memory=replace(now.memory, pose=replace(now.memory.pose, yaw=1.0)))
    for later in (now, turned):
        memories, _ = corrected((then, later), ObjectCorrection('merge', 'now', other='then'), NOW)
        [one] = known_objects(memories)
        [(left_ns, came_ns, before, after)] = one.moves
        assert (left_ns, came_ns) == (VISITS[0][1], VISITS[1][0])
        assert before == pytest.approx(then.position)
        assert after == pytest.approx(now.position)
        assert one.position == pytest.approx(now.position)


def test_what_is_another_thing_since_a_time_is_split_off() -> None:
    before, since = told('split', 'vase', time_ns=VISITS[1][0])
    assert (before.id, before.facts.intervals, before.moves) == ('vase', VISITS[:1], ())
    assert before.position == pytest.approx((0.0, 0.0, 0.86))
    assert [ns for ns, _, _ in before.sightings] == [T0]
    assert before.sightings[0][2] == pytest.approx((3.0, 3.0, 1.1))
    assert since.id not in {one.id for one in ALL}
    assert (since.facts.intervals, since.moves) == (VISITS[1:], ())
    assert since.position == pytest.approx(MOVED.position)
    assert (before.facts.apart, since.facts.apart) == ((since.id,), ('vase',))
    assert before.facts.observations + since.facts.observations == pytest.approx(
        MOVED.facts.observations, abs=1
    )


@pytest.mark.parametrize(
    ('correction', 'why'),
    [
        (ObjectCorrection('rename', 'nobody', name='x'), 'there is no object'),
        (ObjectCorrection('rename', 'cup', name='x', map_id='another'), 'is on map'),
        (ObjectCorrection('merge', 'cup', other='cup'), 'two objects'),
        (ObjectCorrection('merge', 'cup', other='nobody'), 'there is no object'),
        (ObjectCorrection('split', 'cup'), 'split with the time'),
        (ObjectCorrection('split', 'cup', time_ns=T0), 'before that time and since'),
        (ObjectCorrection('split', 'cup', time_ns=NOW), 'before that time and since'),
        (ObjectCorrection('paint', 'cup'), 'give one of rename'),
        (ObjectCorrection('rename', 'cup', name='x' * 300), 'at most 200'),
    ],
)
def test_what_makes_no_sense_is_refused(correction: ObjectCorrection, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        corrected(ALL, correction, NOW)
