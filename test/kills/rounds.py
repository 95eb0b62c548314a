"""The property: a verb that was killed, and is run again, ends as if nothing had happened."""

import json
import os
import random
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from test.kills.recordings import VERBS
from test.kills.state import differences, pictures
from test.kills.steps import CHANGES, HOWS
from test.kills.traces import traces
from test.kills.zygote import Zygote


@dataclass(frozen=True)
class Round:
    """One kill.

    :param verb: one of VERBS
    :param how: one of HOWS, or 'full', at a step; or 'kill' at a moment
    :param at: number of the step; 0: at a moment
    :param moment: after which share of the time that it takes
    """

    verb: str
    how: str
    at: int = 0
    moment: float = 0.0


@dataclass(frozen=True)
class Undisturbed:
    """What becomes of the memory where nobody kills.

    :param steps: what was done, see remembr_ros.test.kills.steps
    :param seconds: that it took
    :param state: afterwards
    :param gone: ids of the memories that are not there any more
    """

    steps: list[str]
    seconds: float
    state: dict[str, Any]
    gone: list[str]


@contextmanager
def killing_here() -> Iterator['Killing']:
    """Kill in memory, where that is allowed: nothing has to outlast the machine."""
    shared = Path('/dev/shm')
    with (
        tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder,
        Zygote() as zygote,
    ):
        yield Killing(Path(folder), zygote)


class Killing:
    """Kills verbs, each on a copy of the same memory.

    :param folder: for these copies
    """

    def __init__(self, folder: Path, zygote: Zygote) -> None:
        self._folder = folder
        self._zygote = zygote
        self._known: dict[str, Undisturbed] = {}
        self.base = folder / 'base'
        self.base.mkdir()
        self._said = folder / 'said'
        self._said.mkdir()
        self._prepare(self.base)

    def undisturbed(self, verb: str) -> Undisturbed:
        """Return what the verb does."""
        if verb not in self._known:
            if VERBS[verb].prepare:
                own = self._own(verb)
                own.mkdir()
                self._prepare(own, verb)
            with self._copy(verb) as root:
                before = self._state(root, verb)
                began = time.monotonic()
                code = self._run(root, do='verb', verb=verb)
                seconds = time.monotonic() - began
                assert code == 0, self._heard('err')
                steps = json.loads(self._heard('steps.json'))
                state = self._state(root, verb)
                gone = sorted(_ids(before) - _ids(state))
                faults = [*traces(root, gone, erased=VERBS[verb].erases), *self._always(state)]
                assert not faults, f'{verb}, undisturbed: {faults}'
            self._known[verb] = Undisturbed(steps, seconds, state, gone)
        return self._known[verb]

    def run(self, one: Round, folder: Path | None = None) -> list[str]:
        """Kill a verb, run it again, and return what is not as it would have been.

        :param folder: where the copy is made, such as on a small disk
        """
        expected = self.undisturbed(one.verb)
        with self._copy(one.verb, folder) as root:
            code = self._disturbed(one, root, expected.seconds)
            (root / 'filling').unlink(missing_ok=True)
            faults = [] if code in (0, 1, -signal.SIGKILL) else [f'it ended with {code}']
            faults += self._traceback()
            done = VERBS[one.verb].done
            if code and not (done and done in self._heard('out')):
                faults += self._again(one.verb, root)
            # Before it is opened once more, which might finish something.
            faults += traces(root, expected.gone, erased=VERBS[one.verb].erases)
            faults += differences({'pictures': pictures(root / 'm' / 'memory.db.keyframes')}, expected.state)
            state = self._state(root, one.verb)
            return [*faults, *differences(state, expected.state), *self._always(state)]

    def told(self, one: Round, faults: list[str]) -> str:
        """Return what was found, and how to see it again."""
        where = (
            f'{one.at} ({self.undisturbed(one.verb).steps[one.at - 1]})' if one.at else f'{one.moment:.3f}'
        )
        again = f"python -m test.bench.bench_kill '{one.verb}' {one.how} {one.at or one.moment}"
        lines = [f'{one.verb}, {one.how} at {where}, then run again; to repeat that: {again}', *faults]
        return '\n  '.join(line if len(line) < 2000 else f'{line[:2000]} ...' for line in lines)

    def halfway(self, verb: str) -> Round:
        """Return a round that ends in the middle of the changes to rows."""
        steps = self.undisturbed(verb).steps
        asked = [number for number, step in enumerate(steps, 1) if step in CHANGES]
        return Round(verb, 'kill', asked[len(asked) // 2])

    def chosen(self, chance: random.Random, verb: str) -> Round:
        """Return a round at random: at a step, rare kinds as likely as frequent ones, or at a moment."""
        steps = self.undisturbed(verb).steps
        if chance.random() < 0.3:
            return Round(verb, 'kill', moment=chance.random())
        kind = chance.choice(sorted({_kind(step) for step in steps}))
        at = chance.choice([number for number, step in enumerate(steps, 1) if _kind(step) == kind])
        return Round(verb, chance.choice(HOWS), at)

    def every(self, verb: str) -> Iterator[Round]:
        """Yield a round for each step and how."""
        for at in range(1, len(self.undisturbed(verb).steps) + 1):
            for how in HOWS:
                yield Round(verb, how, at)

    def _disturbed(self, one: Round, root: Path, seconds: float) -> int:
        pid = self._start(root, do='verb', verb=one.verb, at=one.at, how=one.how)
        if not one.at:
            # How far it comes until then is what is tried out here.
            time.sleep(one.moment * seconds)
            with suppress(ProcessLookupError):  # it was faster
                os.kill(pid, signal.SIGKILL)
        return self._zygote.wait()

    def _again(self, verb: str, root: Path) -> list[str]:
        code = self._run(root, do='verb', verb=verb)
        said = self._heard('err')
        # What was finished meanwhile may be told as such, with a code that is not 0.
        faults = [f'again it ended with {code}: {said}'] if code not in (0, 1, 2) else []
        return [*faults, *self._traceback()]

    def _own(self, verb: str) -> Path:
        """Return the folder with the inputs of a verb, and the memory that it finds."""
        return self._folder / verb if VERBS[verb].prepare else self.base

    def _prepare(self, root: Path, verb: str = '') -> None:
        if self._run(root, do='prepare', verb=verb):
            raise AssertionError(self._heard('err'))

    def _state(self, root: Path, verb: str) -> dict[str, Any]:
        if self._run(root, do='state', verb=verb):
            raise AssertionError(self._heard('err'))
        state: dict[str, Any] = json.loads(self._heard('state.json'))
        return state

    def _traceback(self) -> list[str]:
        said = self._heard('err')
        return [said] if 'most recent call' in said else []  # a traceback, also of one that hung

    def _start(self, root: Path, *, verb: str, **job: Any) -> int:
        inputs = str((self._own(verb) if verb else root) / 'inputs')
        return self._zygote.start(folder=str(root), inputs=inputs, said=str(self._said), verb=verb, **job)

    def _run(self, root: Path, **job: Any) -> int:
        self._start(root, **job)
        return self._zygote.wait()

    def _heard(self, name: str) -> str:
        return (self._said / name).read_text()

    @staticmethod
    def _always(state: dict[str, Any]) -> list[str]:
        return [f'{part}: {state[part]}' for part in ('wrong vectors', 'lost pictures') if state[part]]

    @contextmanager
    def _copy(self, verb: str, folder: Path | None = None) -> Iterator[Path]:
        root = Path(tempfile.mkdtemp(dir=folder or self._folder))
        try:
            shutil.copytree(self._own(verb) / 'm', root / 'm')
            yield root
        finally:
            shutil.rmtree(root)


def _ids(state: dict[str, Any]) -> set[str]:
    return {row.split()[1] for row in state['rows'] if row.startswith('record')}


def _kind(step: str) -> str:
    """Return what a step does to which file, without the numbers in its name."""
    head, _, name = step.partition(' ')
    name = 'picture' if '.keyframes' in name else name
    return f'{head} {name}'
