"""Questions that name several things and ask which it was: 'Which of these did you pick up: A, B or C?'"""

import re
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Claim
from remembr_ros.agent.offline.deeds.deed_claims import FoundAnswer, listed, nothing
from remembr_ros.agent.offline.deeds.deed_request import DeedAsked
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.occurrences import hits_of
from remembr_ros.memory.deeds.query import DeedOrder

MOST_WORDS = 5  # of the name of one of the things
_WHICH_OF = (
    r'^(?P<list>[^:?]+?) ?[:\u2013\u2014-] ?(?:which|what)\b.*\b(?:these|them|those|the \w+)\b',
    r'\b(?:which|what) of (?:these|the following|them)\b.*?[:\u2013\u2014] ?(?P<list>[^:?]+)',
    r'\bwhich\b.*?, ?(?P<list>(?:[^,?]+, ?)*[^,?]+\bor\b[^,?]+)\W*$',
)
_NONE = re.compile(
    r"\b(?:no|none|not|never|without|neither)\b|n['\u2019]t\b|\buntouched\b|\bout of\b", re.IGNORECASE
)


def several_named(text: str) -> tuple[tuple[str, ...], str]:
    """Return the things of which one is asked for, and the question without them; none: all of it."""
    for pattern in _WHICH_OF:
        if found := re.search(pattern, text, re.IGNORECASE):
            parts = re.split(r', ?(?:and|or|nor) |,|\b(?:and|or|nor)\b', found['list'])
            names = tuple(part.strip() for part in parts if part.strip())
            if len(names) > 1 and all(len(name.split()) <= MOST_WORDS for name in names):
                return names, f'{text[: found.start("list")]} {text[found.end("list") :]}'
    return (), text


def which_of(names: tuple[str, ...], about: FoundAnswer) -> Claim | None:
    """Return which of some things it was, or was not."""
    done, last = {}, about.asked.nth == -1
    for name in names:
        phrase = about.names.read(name)
        attribute = ' '.join((*(said for said, _ in phrase.names), *phrase.unknown)) or name
        query = replace(about.query, attribute=attribute, never='', nth=None, limit=None)
        query = replace(query, order=DeedOrder.FIRST)
        if deeds := choose_deeds(query, about.happened).every:
            done[name] = deeds
    if _NONE.search(about.asked.says):
        left = [name for name in names if name not in done]
        text = f'Not {", nor ".join(left)}' if left else 'All of them'
        return Claim(
            Kind.TEXT, f'{text}.', hits_of([deeds[-1] for deeds in done.values()] or about.done[-1:])
        )
    if not done:
        return nothing(about)
    if about.asked.asked is DeedAsked.COUNT:
        ordered = sorted(done, key=lambda name: -len(done[name]))
    elif about.asked.asked is DeedAsked.DURATION:
        ordered = sorted(done, key=lambda name: -sum(deed.seconds for deed in done[name]))
    else:
        ordered = sorted(done, key=lambda name: -done[name][-1].start_ns if last else done[name][0].start_ns)
    text = ', '.join(done)
    if about.asked.nth or about.asked.asked in (DeedAsked.COUNT, DeedAsked.DURATION):
        best = done[ordered[0]]
        text = f'{ordered[0]}, {len(best)} times: {listed(about.question, [best[-1 if last else 0]])}'
    return Claim(Kind.TEXT, f'{text}.', hits_of(done[name][0] for name in ordered))
