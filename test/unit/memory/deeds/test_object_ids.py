from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed, facts_of
from remembr_ros.memory.deeds.object_ids import names_objects, with_object_ids
from test.object_room import CUP, ROOM, TABLE, thing


def of(known, **about):
    made = deed(1, kind='pick', map_id=known[0].memory.map_id, **about).memory('r')
    return facts_of(with_object_ids(made, known))


def test_names_that_one_thing_has_and_ids():
    known = list(ROOM)
    facts = of(known, object='cup', receptacle=TABLE.id)
    assert (facts.object, facts.object_id) == ('cup', CUP.id)
    assert facts.receptacle_id == TABLE.id
    assert facts.receptacle == TABLE.name


def test_what_nobody_knows_stays_a_name():
    known = list(ROOM)
    facts = of(known, object='grand piano')
    assert (facts.object, facts.object_id) == ('grand piano', '')


def test_of_several_of_a_name_the_one_within_reach_is_meant():
    known = [thing('mug', (x, 0.0, 0.8), (0.1, 0.1, 0.1), id=f'mug-{x}') for x in (0.0, 5.0)]
    assert of(known, object='mug').object_id == ''
    assert of(known, object='mug', pose=Pose(5.5, 0.5)).object_id == known[1].id
    assert of(known, object='mug', pose=Pose(20.0, 0.5)).object_id == ''


def test_only_deeds_of_things_are_looked_at():
    assert names_objects(deed(1, kind='pick', object='cup').memory('r'))
    assert not names_objects(deed(1, kind='dock').memory('r'))
    assert not names_objects(ROOM[0].memory)


def test_an_id_that_was_told_is_kept():
    mugs = [thing('mug', (x, 0.0, 0.8), (0.1, 0.1, 0.1), id=f'mug-{x}') for x in (0.0, 5.0)]
    assert of(mugs, object='mug', object_id=mugs[0].id, pose=Pose(5.5, 0.5)).object_id == mugs[0].id
