"""A trajectory as a sequence: how long it is in tokens, what of it is remembered, and where clues lie."""

from types import SimpleNamespace

import pytest

from remembr_bench.evaluation.needles import trial
from remembr_bench.evaluation.records.config import run_config
from remembr_ros.memory.model.record import AGENT, CAPTIONER, OBJECT
from test.unit.evaluation.needles.trajectory import live

LIVED: list[int] = []


def lived(seed: int, steps: int) -> tuple[SimpleNamespace, SimpleNamespace]:
    LIVED.append(steps)
    made = live(seed, steps)
    names = made.guests
    return SimpleNamespace(day=made.day, guests=names), SimpleNamespace(memories=made.memories)


@pytest.mark.parametrize(('planner', 'left_out'), [('offline', set()), ('text_memory', {AGENT, OBJECT})])
def test_a_length_is_told_in_tokens(
    monkeypatch: pytest.MonkeyPatch, planner: str, left_out: set[str]
) -> None:
    monkeypatch.setattr(trial, '_lived', lived)
    config = run_config(data='needles', homes=(5,), planner=planner, embedder='hashing')
    drive = trial.load_trajectory(config, 5, 12_000)
    assert drive.name == 'home-5-12000'
    captions = [memory for memory in drive.memories if memory.source == CAPTIONER]
    assert len(captions) == LIVED[-1]
    assert trial.tokens_of(drive.memories) == pytest.approx(12_000, rel=0.05)
    assert not left_out & {memory.source for memory in drive.memories}
    assert len(drive.samples) > 20
    assert drive.trial is not None
    for sample in drive.samples:
        _, figures, _ = drive.trial.score(sample.id, None)
        assert figures['tokens'] == trial.tokens_of(drive.memories)
        assert 0.0 <= figures.get('depth', 0.0) <= 1.0
        assert sample.question.now_ns > sample.window_ns[1]
