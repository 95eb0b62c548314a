"""An episode: what the robot remembers of a day is what took place, as far as it was seen and told."""

import math
from itertools import pairwise

import pytest

from remembr_bench.evaluation.findingdory.episode import HomeEpisode, live, relive
from remembr_bench.evaluation.objects.run import LEVELS
from remembr_bench.simulation.homes.day import generate_day
from remembr_ros.images import decode_compressed
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.model.record import AGENT, CAPTIONER, OBJECT, PLACE, Memory
from remembr_ros.memory.objects.known import known_objects

SEED = 5


@pytest.fixture(scope='module')
def episode() -> HomeEpisode:
    return live(SEED)


def of(episode: HomeEpisode, source: str) -> list[Memory]:
    return [memory for memory in episode.memories if memory.source == source]


def test_deeds_and_places_are_told_and_objects_lie_where_they_are_now(episode: HomeEpisode) -> None:
    things, handled = episode.simulator.things, episode.truth.handled
    deeds = [facts_of(memory) for memory in of(episode, AGENT)]
    assert [facts.kind for facts in deeds if facts] == ['pick', 'place'] * len(handled)
    assert [facts.object for facts in deeds[::2] if facts] == [things[one.thing].name for one in handled]
    assert sorted(memory.facts['name'] for memory in of(episode, PLACE)) == sorted(episode.simulator.rooms)
    known = {one.id: one for one in known_objects(of(episode, OBJECT))}
    for one, facts in zip(handled, deeds[1::2], strict=True):
        assert facts is not None
        assert math.dist(known[facts.receptacle_id].position, things[one.target].position) < 0.01
    last = {one.thing: facts for one, facts in zip(handled, deeds[1::2], strict=True)}
    for thing, facts in last.items():
        assert facts is not None
        assert math.dist(known[facts.object_id].position, things[thing].position) < 0.01


def test_captions_say_what_is_seen_and_stand_still_while_the_robot_does(episode: HomeEpisode) -> None:
    captions = of(episode, CAPTIONER)
    assert all(a.end_ns < b.start_ns for a, b in pairwise(captions))
    assert any(memory.end_ns - memory.start_ns > 100e9 for memory in captions)
    names = {thing.name for thing in episode.simulator.things.values()}
    said = ' '.join(memory.caption for memory in captions)
    assert sum(name in said for name in names) > 0.8 * len(names)


def test_stays_add_up_to_the_day(episode: HomeEpisode) -> None:
    memories = of(episode, CAPTIONER)
    whole_s = (memories[-1].end_ns - memories[0].start_ns) / 1e9
    assert sum(episode.truth.stays_s.values()) == pytest.approx(whole_s, rel=0.01)
    assert set(episode.truth.stays_s) <= set(episode.simulator.rooms)


def test_detected_objects_have_ids_of_their_own_and_poses_are_off(episode: HomeEpisode) -> None:
    noisy = live(SEED, next(level for level in LEVELS if level.name == 'pose 10 cm 2 deg'))
    off = [
        math.dist(a.pose.position, b.pose.position)
        for a, b in zip(of(episode, AGENT), of(noisy, AGENT), strict=True)
        if a.pose and b.pose
    ]
    assert 0.01 < sum(off) / len(off) < 0.3
    known = {one.id for one in known_objects(of(noisy, OBJECT))}
    assert len(known) > 20
    assert not known & {one.id for one in known_objects(of(episode, OBJECT))}
    told = [facts.receptacle_id for memory in of(noisy, AGENT) if (facts := facts_of(memory))]
    assert set(told) <= {*known, ''}
    assert any(told)


def test_a_picture_of_each_caption_is_kept_where_one_is_wanted() -> None:
    day = generate_day(4)
    episode = relive(day, rate_hz=0.5, frames=2, pictures=True)
    episode.simulator.close()
    captions = {memory.id for memory in episode.memories if memory.source == CAPTIONER}
    assert set(episode.images) == captions
    jpeg = next(iter(episode.images.values()))[0]
    assert decode_compressed('jpeg', jpeg).shape == (240, 320, 3)
