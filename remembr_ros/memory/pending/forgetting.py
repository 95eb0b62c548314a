"""Forgettings: conditions under which memories are deleted, and which hold for what comes late, too.

A forgetting is kept for a while, since what it means may wait in a queue, or on a robot that is away. It does
not tell what was forgotten: of a text only a keyed digest is kept.
"""

import hashlib
import json
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import shapely

from remembr_ros.memory.model.area import Area
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import AGENT, PLACE, Memory, Observation
from remembr_ros.memory.objects.known import seen_in

IDS = 900  # in one forgetting: a row on a server has 65,535 bytes


@dataclass(frozen=True, slots=True)
class SealedText:
    """A text that can be found in another one, and not be read.

    :param length: characters
    :param salt: hexadecimal
    :param digest: hexadecimal
    """

    length: int
    salt: str
    digest: str

    def is_in(self, text: str) -> bool:
        """Tell whether a text has it, in whatever case."""
        folded = text.casefold()
        windows = (folded[at : at + self.length] for at in range(len(folded) - self.length + 1))
        return any(_digest(window, self.salt) == self.digest for window in windows)


def sealed(text: str) -> SealedText:
    """Return a text as it can be kept though it is forgotten."""
    folded, salt = text.casefold(), secrets.token_hex(16)
    return SealedText(len(folded), salt, _digest(folded, salt))


def _digest(text: str, salt: str) -> str:
    key = bytes.fromhex(salt)
    return hashlib.blake2b(text.encode('utf-8', 'replace'), digest_size=16, key=key).hexdigest()


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What somebody wanted forgotten. Conditions combine with "and".

    :param at_ns: when [ns since the Unix epoch]
    :param ids: any of these; None: whatever their ids
    :param text: part of the caption or of what was read; None: whatever it says
    """

    at_ns: int
    ids: frozenset[str] | None = None
    scope: Scope = ANYTHING
    text: SealedText | None = None

    def holds(self, observation: Observation) -> bool:
        """Tell whether it means an observation that was heard before it."""
        memory = observation.memory
        if not 0 < observation.heard_ns <= self.at_ns or not is_meant(memory, self.ids, self.scope):
            return False
        return self.text is None or self.text.is_in(_said(memory))

    def to_text(self) -> str:
        """Return what is kept of it."""
        scope = asdict(replace(self.scope, area=None))
        if self.scope.area is not None:
            scope['area'] = [shapely.to_wkt(self.scope.area.shape, -1), self.scope.area.floor]
        ids = None if self.ids is None else sorted(self.ids)
        kept = {'ids': ids, 'scope': scope, 'text': self.text and asdict(self.text)}
        return json.dumps(kept, separators=(',', ':'))


def forgetting_from(at_ns: int, text: str) -> Forgetting:
    """Return the forgetting of which to_text kept this; what a later program adds is passed over."""
    kept = json.loads(text)
    known = {field.name for field in fields(Scope)}
    scope: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in kept['scope'].items()
        if name in known
    }
    if scope['area']:
        scope['area'] = Area(shapely.from_wkt(scope['area'][0]), scope['area'][1])
    ids = None if kept['ids'] is None else frozenset(kept['ids'])
    return Forgetting(at_ns, ids, Scope(**scope), SealedText(**kept['text']) if kept['text'] else None)


def forgettings_of(
    at_ns: int, ids: Collection[str] | None, scope: Scope = ANYTHING, text: str = ''
) -> list[Forgetting]:
    """Return a forgetting with these conditions, as in MemoryStore.matching, in parts that can be kept."""
    says = sealed(text) if text else None
    if ids is None:
        return [Forgetting(at_ns, None, scope, says)]
    named = sorted(ids)
    parts = (frozenset(named[start : start + IDS]) for start in range(0, len(named), IDS))
    return [Forgetting(at_ns, part, scope, says) for part in parts]


def is_meant(memory: Memory, ids: Collection[str] | None, scope: Scope, text: str = '') -> bool:
    """Tell whether a forgetting with these conditions means a memory, see MemoryStore.matching."""
    if (ids is not None and memory.id not in ids) or not scope.admits(memory):
        return False
    if memory.source == PLACE and ids is None and scope.source != PLACE:
        return False  # a name is no memory of the time when it was given
    if (scope.after_ns, scope.before_ns) != (None, None) and not seen_in(memory, scope):
        return False
    return text.casefold() in _said(memory).casefold()


def with_quoting(memories: Sequence[Memory], deeds: Sequence[Memory]) -> list[Memory]:
    """Return memories with the deeds that rest on them, or on such deeds.

    :param deeds: of the source AGENT
    """
    found = {memory.id: memory for memory in memories}
    quoting = [(deed, ids) for deed in deeds if (ids := evidence_of(deed))]
    while more := [d for d, ids in quoting if d.id not in found and not found.keys().isdisjoint(ids)]:
        found |= {deed.id: deed for deed in more}
    return list(found.values())


def quotes_forgotten(
    observation: Observation, held: Sequence[Forgetting], get: Callable[[Sequence[str]], list[Memory]]
) -> bool:
    """Tell whether a deed, such as an answer that took its time, rests on what was forgotten meanwhile.

    :param get: returns the memories that are stored: somebody may have stored one again
    """
    quoted = [name for name in evidence_of(observation.memory) if any(name in (of.ids or ()) for of in held)]
    return bool(quoted) and len(get(quoted)) < len(quoted)


def evidence_of(memory: Memory) -> list[str]:
    """Return the ids of the memories that a deed, such as an answer, rests on."""
    found = memory.facts.get('evidence') if memory.source == AGENT else None
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _said(memory: Memory) -> str:
    return '\n'.join((memory.caption, *memory.scene_text))
