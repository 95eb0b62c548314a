"""What a kill at any moment leaves of each verb that changes a memory; see test.kills."""

import os
import random
from collections.abc import Iterator

import pytest

from test.kills.recordings import VERBS
from test.kills.rounds import Killing, Round, killing_here
from test.small_disk import MountRefused, small_disk

pytestmark = pytest.mark.timeout(300)

SEED = os.environ.get('REMEMBR_KILL_SEED', '1')
ROUNDS = 5
"""Of each verb; python -m test.bench kill does more."""

OTHER_ROUNDS = {'objects': 8, 'ingest a kitchen': 2, 'ingest a visit': 2}


@pytest.fixture(scope='module')
def killing() -> Iterator[Killing]:
    with killing_here() as killing:
        yield killing


@pytest.mark.parametrize('verb', VERBS)
def test_what_was_killed_and_runs_again_ends_as_if_nothing_had_happened(killing: Killing, verb: str) -> None:
    if VERBS[verb].needs:
        pytest.skip(f'needs {VERBS[verb].needs}')
    rounds = OTHER_ROUNDS.get(verb, ROUNDS)
    chances = [random.Random(f'{SEED} {verb} {number}') for number in range(1, rounds)]
    for one in [killing.halfway(verb), *(killing.chosen(chance, verb) for chance in chances)]:
        faults = killing.run(one)
        assert not faults, killing.told(one, faults)


def test_forgetting_goes_on_when_a_full_disk_has_room_again(killing: Killing) -> None:
    steps = len(killing.undisturbed('forget').steps)
    try:
        with small_disk() as folder:
            for at in random.Random(SEED).sample(range(1, steps + 1), ROUNDS):
                one = Round('forget', 'full', at)
                faults = killing.run(one, folder)
                assert not faults, killing.told(one, faults)
    except MountRefused as error:
        pytest.skip(str(error))
