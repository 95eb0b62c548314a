import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from remembr_bench.evaluation.objects.measure import Belief
from remembr_bench.evaluation.objects.run import ObjectRule
from remembr_ros.objects.appearance import Appearance
from remembr_ros.objects.lifting import Lifted
from remembr_ros.timestamps import NS
from test.bench.object_rules import RULES, main, volume
from test.object_scene import T0, blind, detection

RED, BLUE = (np.eye(4, dtype=np.float32)[i] for i in range(2))


def at(x: float, label: str = 'cup', size: float = 0.1, look: np.ndarray = RED, stamp_ns: int = T0) -> Lifted:
    one = detection((10.0, 10.0, 50.0, 50.0), label, stamp_ns=stamp_ns)
    low = np.array([x, 0.0, 0.8])
    return Lifted(one, low, low + size, 0.02, False, True, Appearance(look), bytes)


def shown(rule: ObjectRule, *frames: Sequence[Lifted]) -> list[Belief]:
    for placed in frames:
        rule.update(blind(max((one.detection.stamp_ns for one in placed), default=T0)), placed)
    return rule.beliefs()


@pytest.mark.parametrize('name', RULES)
def test_every_rule_finds_two_things_that_lie_apart_and_gives_each_one_id(name: str) -> None:
    rule = RULES[name]()
    ids = []
    for number in range(12):
        stamp_ns = T0 + number * NS // 2
        placed = [at(0.0, stamp_ns=stamp_ns), at(3.0, 'bowl', look=BLUE, stamp_ns=stamp_ns)]
        ids.append(rule.update(blind(stamp_ns), placed))
    assert sorted(belief.label for belief in rule.beliefs()) == ['bowl', 'cup']
    assert ids[-1] == ids[-2] == [b.names[0] for b in sorted(rule.beliefs(), key=lambda b: b.centre[0])]
    for belief, x in zip(sorted(rule.beliefs(), key=lambda b: b.centre[0]), (0.05, 3.05), strict=True):
        assert belief.centre == pytest.approx([x, 0.05, 0.85], abs=0.01)


@pytest.mark.parametrize('name', RULES)
def test_every_rule_takes_frames_without_anything(name: str) -> None:
    assert shown(RULES[name](), [], []) == []


def test_embodied_videoagent_takes_what_overlaps_by_a_fifth_of_the_smaller_one_for_the_same() -> None:
    [belief] = shown(RULES['embodied_videoagent'](), [at(0.0)], [at(0.07)])
    assert belief.centre[0] == pytest.approx(0.085)  # the mean of both
    assert len(shown(RULES['embodied_videoagent'](), [at(0.0)], [at(0.09)])) == 2
    assert len(shown(RULES['embodied_videoagent'](), [at(0.0)], [at(0.0, 'bowl')])) == 2
    assert len(shown(RULES['embodied_videoagent'](), [at(0.0, size=0.5)], [at(0.1)])) == 1


def test_embodied_videoagent_finds_what_moved_while_it_was_out_of_sight() -> None:
    later_ns = T0 + 3600 * NS
    [belief] = shown(RULES['embodied_videoagent'](), [at(0.0)], [at(4.0, stamp_ns=later_ns)])
    assert (belief.moved_ns, belief.centre[0]) == (later_ns, pytest.approx(4.05))
    for other in (
        at(4.0, stamp_ns=T0 + 60 * NS),
        at(4.0, look=BLUE, stamp_ns=later_ns),
        at(4.0, size=0.2, stamp_ns=later_ns),
        at(4.0, 'bowl', stamp_ns=later_ns),
    ):
        assert len(shown(RULES['embodied_videoagent'](), [at(0.0)], [other])) == 2


def test_dimos_takes_what_is_near_for_the_same_whatever_it_is_called_and_newest_wins() -> None:
    frames = [[at(0.0 if i % 2 else 0.15, 'cup' if i % 2 else 'bowl')] for i in range(6)]
    [belief] = shown(RULES['dimos'](), *frames)
    assert (belief.label, belief.centre[0]) == ('cup', pytest.approx(0.05))
    assert shown(RULES['dimos'](), *frames[:5]) == []  # six hits make an object
    assert shown(RULES['dimos'](), *([at(0.21 * i)] for i in range(6))) == []
    # What is pending is forgotten after five seconds.
    assert shown(RULES['dimos'](), *([at(0.0, stamp_ns=T0 + i * 6 * NS)] for i in range(12))) == []


def test_semap_takes_what_is_called_the_same_and_near_for_the_same_and_newest_wins() -> None:
    [belief] = shown(RULES['rai_semap'](), [at(0.0)], [at(0.45)])
    assert belief.centre[0] == pytest.approx(0.5)
    assert len(shown(RULES['rai_semap'](), [at(0.0)], [at(0.55)])) == 2
    assert len(shown(RULES['rai_semap'](), [at(0.0)], [at(0.0, 'bowl')])) == 2


def test_a_box_without_room_has_no_volume_and_a_flat_one_some() -> None:
    low = np.zeros(3)
    assert volume(low, np.array([1.0, 2.0, 3.0])) == 6.0
    assert volume(low, np.array([1.0, 1.0, 0.0])) == pytest.approx(0.01)
    assert volume(low, np.array([1.0, 1.0, -0.1])) == 0.0


def test_others_see_the_same_and_make_less_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip('pyvista', reason='pyvista is not installed')
    few = ['--homes', '2', '--visits', '2', '--rules', 'remembr', 'dimos', '--noise', 'none']
    assert main([*few, '--out', str(tmp_path)]) == 0
    assert '| none, dimos |' in capsys.readouterr().out
    by_rule = json.loads((tmp_path / 'results.json').read_text())['by_rule']
    ours, theirs = (by_rule[rule]['none'] for rule in ('remembr', 'dimos'))
    assert ours['n'] == theirs['n']
    assert theirs['f1'] < ours['f1']
    assert ours['sights'] > theirs['sights'] > 0
