"""Whether a thing was left open, or is in hand: by what the robot itself last did to it."""

import re
from collections.abc import Callable, Iterable

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Claim
from remembr_ros.memory.deeds.names import DeedNames
from remembr_ros.memory.deeds.occurrences import Happened, hits_of, last_of_each
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.recall import Scope

_STATE = r'\s+(?:still\s+)?(?P<state>open|closed|shut|in\s+your\s+hands?)'
_HOLDING = re.compile(r'\bare\s+you\s+(?:holding|carrying)\b(.*?)(?=(?: right)?(?: now)?\W*$)', re.IGNORECASE)
_WHETHER = re.compile(
    r'^\W*(?:(?:is|are|was|were)\s+(?!there\b)|(?:did|have|had)\s+(?:you|we|i)\s+(?:leave|left)\s+)'
    rf'(?P<thing>.+?){_STATE}(?:\s+(?:now|right now|again))?\W*$',
    re.IGNORECASE,
)
_WHAT = re.compile(
    rf'^\W*(?:what|which)\b.*?\b(?:leave|left|is|are|was|were|stands?){_STATE}(?:\s+now)?\W*$', re.IGNORECASE
)


def answer_state(
    text: str, names: DeedNames, happened: Happened, scope: Scope, told: Callable[[Iterable[Occurrence]], str]
) -> Claim | None:
    """Return whether something is open or in hand, or what is; None: that is not asked for, or no deed tells.

    :param told: says some deeds
    """
    text = _HOLDING.sub(r'is\1 in your hand', text)
    found = _WHETHER.match(text) or _WHAT.match(text)
    kinds = ('pick', 'place') if found and 'hand' in found['state'].lower() else ('open', 'close')
    last = last_of_each(happened.deeds(scope), *kinds) if found else []
    if found is None or not last:
        return None
    as_first = found['state'].lower() not in ('closed', 'shut')
    so = [one for one in last if is_same_kind(one.facts.kind, kinds[0]) is as_first]
    if found.re is _WHAT:
        text = told(so) if so else f'Nothing that I remember, of {len(last)} that I handled'
        return Claim(Kind.TEXT, f'{text}.', hits_of(so or last))
    phrase = names.read(found['thing'])
    query = phrase.query(loose=not phrase.of('object'))
    fit = [one for one in last if one.fits(query)] if phrase.names and not phrase.unknown else []
    if not fit:
        return None
    one = max(fit, key=lambda one: one.end_ns)
    yes = one in so
    return Claim(Kind.BINARY, f'{"Yes" if yes else "No"}: {told([one])}.', hits_of([one]), binary=yes)
