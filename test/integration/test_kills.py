"""What a kill at any moment leaves of each verb that changes a memory; see test.kills."""

import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.kills.rounds import Killing, Round, small_disk
from test.kills.verbs import VERBS
from test.kills.zygote import Zygote

pytestmark = pytest.mark.timeout(300)

SEED = os.environ.get('REMEMBR_KILL_SEED', '1')
ROUNDS = 5
"""Of each verb; python -m test.bench kill does more."""


@pytest.fixture(scope='module')
def killing() -> Iterator[Killing]:
    shared = Path('/dev/shm')
    with (
        tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder,
        Zygote() as zygote,
    ):
        yield Killing(Path(folder), zygote)


@pytest.mark.parametrize('verb', VERBS)
def test_what_was_killed_and_runs_again_ends_as_if_nothing_had_happened(killing: Killing, verb: str) -> None:
    chances = [random.Random(f'{SEED} {verb} {number}') for number in range(1, ROUNDS)]
    for one in [killing.halfway(verb), *(killing.chosen(chance, verb) for chance in chances)]:
        faults = killing.run(one)
        assert not faults, killing.told(one, faults)


def test_forgetting_goes_on_when_a_full_disk_has_room_again(killing: Killing) -> None:
    # Not tmp_path, whose name is too long for the address of a database.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not small_disk(folder):
            pytest.skip('mounting a disk of 20 MB is not allowed here')
        try:
            steps = len(killing.undisturbed('forget').steps)
            for at in random.Random(SEED).sample(range(1, steps + 1), ROUNDS):
                one = Round('forget', 'full', at)
                faults = killing.run(one, folder)
                assert not faults, killing.told(one, faults)
        finally:
            subprocess.run(['umount', name], check=True)
