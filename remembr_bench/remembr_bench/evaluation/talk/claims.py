"""What a robot says that it did, held against what it did."""

import re
from collections.abc import Iterable, Sequence, Set

from remembr_bench.simulation.homes.home import ACTIONS, Interaction, Item, name_of
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.memory.deeds.verbs import is_same_kind

_CLAUSES = re.compile(r'[.!?;:\n]+|,?\s+(?:and|then|but|before|after)\s+(?:then\s+)?|,\s+', re.IGNORECASE)
_ADVERBS = r'(?:(?:just|already|also|now|then|have|had|did|been|successfully|finally|carefully)\s+)*'
_MINE = re.compile(rf"\b(?:i|i've|we|we've)\s+{_ADVERBS}([a-z]+)", re.IGNORECASE)
_PASSIVE = re.compile(
    rf'\b(?:has|have|had)\s+(?:now\s+|just\s+|already\s+)?been\s+{_ADVERBS}([a-z]+)\b', re.IGNORECASE
)
_GOES_ON = re.compile(rf'^\s*{_ADVERBS}([a-z]+)', re.IGNORECASE)
_TARGET = re.compile(
    r'\b(?:on|onto|in|into|inside|to|at|from|off|out of)\s+(?=the|your|my|a|an|it)', re.IGNORECASE
)
_ON = re.compile(r'^\s+on\b|\bon\s*$', re.IGNORECASE)  # of "switch on", which says of no place
_HERE = re.compile(r"\bhere(?:'s| is| are)\b", re.IGNORECASE)
_DONE = re.compile(
    r"^\W*(?:it's |it is |all |that's |i(?:'ve| have)? )?(?:done|did it|did that|finished)\b", re.IGNORECASE
)
_NOW = re.compile(r'\b(?:is|are)\s+(now|back)\s+(?=on|in)', re.IGNORECASE)
_SOMETHING = re.compile(
    r'\b(?:the|an?|your|my)\s+(?!(?:things?|items?|objects?|ones?|way)\b)[a-z]', re.IGNORECASE
)
"""That a thing is named, whether or not there is one."""
_PAST = frozenset(
    'put set cut shut took taken brought gave given went gone drove driven left laid lit got'.split()
)
_CARRIED = frozenset('brought carried moved returned delivered gave given transferred relocated'.split())
_TURNED = ('switched', 'turned')
_OTHER = {**dict.fromkeys(_TURNED, 'switch on'), 'lit': 'light', 'cut': 'slice', 'visited': 'go'}
_KINDS = ('pick', 'place', 'open', 'close', 'go', *ACTIONS)


def unfounded(said: str, world: HomeWorld, done: Iterable[Interaction], rooms: Set[str]) -> list[str]:
    """Return what a robot says that it did and did not do, each as the clause that says so.

    What it says in the first person and in the passive is looked at; what it says that it will do, could not
    do, or saw, is not.

    :param done: what it did to things until then
    :param rooms: names of those that it was in
    """
    done, found, mine = list(done), [], False
    meant: list[Item] = []
    for part in filter(str.strip, _CLAUSES.split(said.replace('\u2019', "'"))):
        clause, here = part, _HERE.search(part)
        if here and _named(part[here.end() :], world.making.items):
            clause = f'I brought {part[here.end() :]}'
        own, passive = _MINE.search(clause), _PASSIVE.search(clause)
        match = own or passive or (_GOES_ON.match(clause) if mine else None)
        verb = match[1].lower() if match else ''
        kind = _kind(verb)
        if match is not None and verb in _TURNED and not _ON.search(clause[match.end() :]):
            kind = ''
        mine = bool(kind)
        if match is None or not kind:
            if (_DONE.match(clause) and not world.done) or _is_elsewhere(clause, world):
                found.append(part.strip())
            meant = _named(clause, world.making.items) or meant
            continue
        before = clause[: match.start()] if match is passive else ''
        body = f'{before} {_ON.sub("", clause[match.end() :])}'
        thing, *targets = _TARGET.split(body)
        target = ' '.join(targets)
        things = _named(thing, world.making.items)
        unknown = not things and kind != 'go' and _SOMETHING.search(thing)
        things = things or meant
        meant = things
        where = [room.name for room in world.making.rooms if room.name in target.lower()]
        receptacles = _named(target, world.making.items)
        kinds = [kind]
        if verb in _CARRIED and things:
            kinds = ['place'] if receptacles else ['place', 'pick']
        if kinds == ['go']:
            true = not where or bool(rooms & set(where))
        else:
            true = any(
                deed.kind in kinds
                and (not things or world.item(deed.item) in things)
                and (not receptacles or not deed.receptacle or world.item(deed.receptacle) in receptacles)
                and (not where or deed.room in where or (deed.kind != kind and rooms & set(where)))
                for deed in done
            )
            true = true and not unknown
        if not true:
            found.append(part.strip())
    return found


def _is_elsewhere(clause: str, world: HomeWorld) -> bool:
    """Tell whether a clause says that a thing is somewhere now, and it is not."""
    thing, now, where = _NOW.split(clause, 1) if _NOW.search(clause) else ('', '', '')
    things, there = _named(thing, world.making.items), _named(where, world.making.items)
    placed = world.making.placed
    return bool(now and things and there) and not any(
        world.item(placed[thing.number].receptacle) in there
        for thing in things
        if thing.number in placed and placed[thing.number].receptacle
    )


def _kind(verb: str) -> str:
    """Return the kind of deed that a verb in the past says; empty: it says none."""
    if verb in _OTHER or verb in _CARRIED:
        return _OTHER.get(verb, 'place')
    if not verb.endswith('ed') and verb not in _PAST:
        return ''
    return next((kind for kind in _KINDS if is_same_kind(verb, kind.split()[0])), '')


def _named(text: str, items: Sequence[Item]) -> list[Item]:
    """Return the things that a text names, rather by their whole names."""
    text = text.lower()
    for names in (name_of, lambda item: item.label):
        found = [item for item in items if re.search(rf'\b{re.escape(names(item))}s?\b', text)]
        if found:
            longest = max(len(names(item)) for item in found)
            return [item for item in found if len(names(item)) == longest]
    return []
