import pytest

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.offline.relevance_model import FITTED, LEAST, Likeness, chance


def test_every_sign_of_a_thing_makes_it_likelier() -> None:
    base = Likeness(0.4, 0.5, named=False)
    for more in (Likeness(0.5, 0.5, False), Likeness(0.4, 0.7, False), Likeness(0.4, 0.5, True)):
        assert chance(more) > chance(base)
    assert min(FITTED.score, FITTED.covered, FITTED.named) > 0.0


@pytest.mark.parametrize('kind', LEAST)
def test_what_is_like_by_chance_was_not_seen(kind: Kind) -> None:
    # MiniLM's cosine of 'bakery' to a cafeteria, and what a drive to a thing by its name scores
    assert chance(Likeness(0.52, 0.0, named=False)) < LEAST[kind]
    assert chance(Likeness(0.3, 1.0, named=True)) >= LEAST[kind]


def test_driving_needs_more_than_telling() -> None:
    assert LEAST[Kind.POSITION] == max(LEAST.values())
    assert set(LEAST) == set(Kind) - {Kind.NOT_SEEN}
