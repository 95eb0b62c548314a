"""Whether a thing was left open: by what the robot itself last opened or closed of it."""

import re
from collections.abc import Callable, Iterable, Sequence

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Claim
from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.occurrences import hits_of
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import is_same_kind

_STATE = r'(?P<state>open|closed|shut)'
_WHETHER = re.compile(
    rf'^\W*(?:(?:is|are|was|were)\s+(?P<thing>(?!there\b).+?)|(?:did|have|had)\s+(?:you|we|i)\s+(?:leave|left)\s+'
    rf'(?P<left>.+?))\s+(?:still\s+)?{_STATE}(?:\s+(?:now|right now|again))?\W*$',
    re.IGNORECASE,
)
_WHAT = re.compile(
    rf'^\W*(?:what|which)\b.*?\b(?:leave|left|is|are|was|were|stands?)\s+(?:still\s+)?{_STATE}\W*$',
    re.IGNORECASE,
)


def answer_state(
    text: str,
    names: DeedNames,
    done: Callable[[], Sequence[Occurrence]],
    told: Callable[[Iterable[Occurrence]], str],
) -> Claim | None:
    """Return whether something is open or closed, or what is; None: that is not asked for, or no deed tells.

    :param done: returns those that count, in the order of time
    :param told: says some of them
    """
    found = _WHETHER.match(text) or _WHAT.match(text)
    if found is None:
        return None
    is_open = found['state'].lower() == 'open'
    last = _last(done())
    if found.re is _WHAT:
        some = [one for one in last if is_same_kind(one.facts.kind, 'open') is is_open]
        text = told(some) if some else f'Nothing that I remember, of {len(last)} that I opened or closed'
        return Claim(Kind.TEXT, f'{text}.', hits_of(some or last)) if last else None
    phrase = names.read(found['thing'] or found['left'])
    query = phrase.query() if phrase.of('object') else phrase.query(loose=True)
    fit = [one for one in last if one.fits(query)] if phrase.names and not phrase.unknown else []
    if not fit:
        return None
    one = max(fit, key=lambda one: one.end_ns)
    yes = is_same_kind(one.facts.kind, 'open') is is_open
    return Claim(Kind.BINARY, f'{"Yes" if yes else "No"}: {told([one])}.', hits_of([one]), binary=yes)


def _last(done: Iterable[Occurrence]) -> list[Occurrence]:
    """Return what was last opened or closed of each thing."""
    last: dict[tuple[str, str], Occurrence] = {}
    for one in done:
        if not one.failed and any(is_same_kind(one.facts.kind, kind) for kind in ('open', 'close')):
            facts = one.facts
            last[facts.object_id or facts.object.casefold(), facts.place.casefold()] = one
    return [*last.values()]
