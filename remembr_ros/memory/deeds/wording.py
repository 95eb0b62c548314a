"""A deed as a sentence with everything known of it, so that text search finds it."""

from typing import Protocol

_VERBS = {
    'go': ('drove', 'drive'),
    'pick': ('picked', 'pick'),
    'place': ('put', 'put'),
    'open': ('opened', 'open'),
    'close': ('closed', 'close'),
    'ask': ('asked', 'ask'),
    'answer': ('answered', 'answer'),
    'dock': ('docked', 'dock'),
    'charge': ('charged', 'charge'),
    'fail': ('failed', 'do something'),
}
"""What it is called when it was done, and when it was not, by its kind."""

_BETWEEN = {'pick': 'from', 'place': 'on', 'go': 'at'}


class _Facts(Protocol):
    kind: str
    object: str
    receptacle: str
    place: str
    reason: str
    text: str

    @property
    def outcome(self) -> str: ...


def kind_said(text: str) -> str:
    """Return the kind of a deed that a sentence begins with; empty: none of the usual ones."""
    first = text.split(maxsplit=1)[0].casefold() if text.split() else ''
    return next((kind for kind, (past, plain) in _VERBS.items() if first in (past, plain)), '')


def sentence(facts: _Facts) -> str:
    """Return what was done, to what, where, how that ended and why."""
    told = facts.text or _made(facts)
    bare = told.rstrip('. ') or told  # what follows stands before the full stop
    known = bare.casefold()
    more = [facts.object, facts.receptacle, facts.place]
    names = (facts.kind, *_VERBS.get(facts.kind, ()))
    done = facts.outcome in ('succeeded', 'unknown')
    if facts.text and done and not any(name in known for name in names):
        more.insert(0, _VERBS.get(facts.kind, names)[0])
    more = [word for word in dict.fromkeys(more) if word and word.casefold() not in known]
    told = bare if more or facts.reason else told
    told += f' ({", ".join(more)})' if more else ''
    if facts.text and facts.outcome in ('failed', 'cancelled') and facts.outcome[:4] not in known:
        told += f'; {facts.outcome}'
    if facts.reason and facts.reason.casefold() not in told.casefold():
        told += f': {facts.reason}'
    return told[:1].upper() + told[1:]


def _made(facts: _Facts) -> str:
    past, plain = _VERBS.get(facts.kind, (facts.kind, facts.kind))
    of = f' {_the(facts.object)}' if facts.object else ''
    if facts.kind == 'go':
        to = facts.receptacle or facts.object or facts.place
        of = f' to {_the(to)}' if to else ' to another place'
    elif facts.receptacle:
        of += f' {_BETWEEN.get(facts.kind, "at")} {_the(facts.receptacle)}'
    if facts.outcome == 'failed' and facts.kind != 'fail':
        return f'failed to {plain}{of}'
    if facts.outcome == 'cancelled':
        return f'was stopped before it could {plain}{of}'
    if facts.outcome == 'unknown' and facts.reason:
        return f'began to {plain}{of}'
    return f'{past}{of}'


def _the(name: str) -> str:
    is_one = name[:1].isupper() or name.startswith(('the ', 'a ', 'an ', 'my '))
    return name if is_one else f'the {name}'
