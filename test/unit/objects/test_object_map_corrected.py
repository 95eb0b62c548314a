"""What a person said of objects is not overruled by a detector that sees the same again."""

from dataclasses import replace

from remembr_ros.memory.objects.corrections import ObjectCorrection, corrected
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.objects.object_map import ObjectMap
from test.object_home import BOWL, ELSEWHERE, HOUR_NS, MUG, Home, Thing, home_of

SECOND = Thing((0.12, 0.0), (30, 30, 200), 'mug')


def corrected_home(home: Home, action: str, *, label: str = 'mug', **about: object) -> Home:
    """Return a home that is looked at again an hour after a person said something."""
    known = home.known()
    correction = ObjectCorrection(action, home.one(label).id, **about)  # type: ignore[arg-type]
    memories, gone = corrected(known, correction, home.now_ns)
    changed = {memory.id for memory in memories}
    kept = [one.memory for one in known if one.id not in changed and one.id not in gone]
    objects = ObjectMap('robbie', known=known_objects([*kept, *memories], deleted=True))
    return Home(objects, home.now_ns + HOUR_NS)


def test_a_name_stays() -> None:
    home = corrected_home(home_of(MUG, BOWL), 'rename', name='chalice')
    assert home.show(MUG, BOWL)[0]
    [named] = [one for one in home.known() if one.name == 'chalice']
    assert named.facts.observations == 12
    assert named.memory.caption.startswith('Chalice, a red mug')


def test_a_ghost_stays_dead_where_it_was_and_nowhere_else() -> None:
    home = corrected_home(home_of(MUG, BOWL), 'delete')
    ids = home.show(MUG, BOWL)
    assert ids[0] == ''
    assert [one.name for one in home.known()] == ['bowl']
    home.show(BOWL, times=12)
    assert all(home.show(ELSEWHERE, BOWL))
    assert [one.name for one in home.known()] == ['bowl', 'mug']


def test_what_is_gone_stays_gone_where_it_was_and_is_found_elsewhere() -> None:
    home = corrected_home(home_of(MUG, BOWL), 'gone')
    home.show(MUG, BOWL)
    assert home.is_missing()
    identity = home.one().id
    home.show(ELSEWHERE, BOWL, times=12)
    assert not home.is_missing()
    assert (home.one().id, home.one().facts.taken, len(home.one().moves)) == (identity, 0, 1)


def test_what_is_another_thing_is_not_made_one_again() -> None:
    home = home_of(MUG)
    home.now_ns += HOUR_NS
    home.show(MUG)
    seen_ns = home.one().facts.intervals[1][0]
    home = corrected_home(home, 'split', time_ns=seen_ns)
    home.show(MUG, times=20)
    assert len(home.known()) == 2


def test_what_is_one_stays_one() -> None:
    second = replace(SECOND, label='cup')
    home = home_of(MUG, second)
    home = corrected_home(home, 'merge', other=home.one('cup').id)
    assert len(home.known()) == 1
    home.show(MUG)
    assert len(home.known()) == 1
