"""Objects in words: their sentences, their names, and their changes (appeared, moved, missing, back)."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timezone, tzinfo
from typing import Literal

from remembr_ros.memory.matching.terms import content_stems, everyday_names, stem, synonyms, words
from remembr_ros.memory.model.record import OBJECT, Memory
from remembr_ros.memory.objects.known import (
    ONE_INTERVAL_NS,
    TRANSIENT,
    Interval,
    KnownObject,
    best_label,
    joined,
    known_objects,
)
from remembr_ros.timestamps import NS, format_clock

_NEAR = ' near the '
DELETED = 'Nothing: a person said that there is no such thing.'


def sentence(known: KnownObject, near: str) -> str:
    """Return what an object is and near what, without numbers: it changes seldom, and so do its vectors.

    :param near: what a larger object beside it is called; empty: there is none
    """
    if known.facts.deleted:
        return DELETED
    name = with_article(f'{known.facts.colour} {known.recognised_as}'.strip())
    if known.facts.named:
        name = f'{known.facts.named}, {name}'
    place = _NEAR + spelled(near) if near else ''
    if not known.facts.measured:
        place = ', how far away is not known'
    place += ', which is gone' if known.missing_ns is not None else ''
    return f'{name[0].upper()}{name[1:]}{place}.'


def sentence_of(known: KnownObject) -> str:
    """Return what an object is, near what it is known to be."""
    near = known.memory.caption.partition(_NEAR)[2]
    return sentence(known, near.removesuffix('.').removesuffix(', which is gone'))


def described(known: KnownObject) -> str:
    """Return an object with its colour, without an article; a name that a person gave needs none."""
    colour = '' if known.facts.named else known.facts.colour
    return f'{colour} {known.name}'.strip()


def listed(known: Iterable[KnownObject]) -> str:
    """Return objects as a sentence has them: 'a red cup, 2 bowls and an apple'."""
    numbers = Counter(described(thing) for thing in known)
    names = [with_article(name) if n == 1 else f'{n} {plural(name)}' for name, n in numbers.items()]
    return ' and '.join(filter(None, (', '.join(names[:-1]), *names[-1:])))


def plural(name: str) -> str:
    """Return the name of several things."""
    if name.endswith(('elf', 'nife', 'carf')):
        return f'{name.removesuffix("e")[:-1]}ves'
    return f'{name}es' if name.endswith(('x', 's', 'ch', 'sh')) else f'{name}s'


def with_article(name: str) -> str:
    """Return a name as that of one thing of which nothing is known yet."""
    return f'{"an" if name[:1].lower() in "aeiou" else "a"} {name}'


def spelled(label: str) -> str:
    """Return a label as people write it."""
    return everyday_names(label)[0]


def of_itself(memory: Memory) -> Memory:
    """Return a memory; of an object without what it is near, which is another thing."""
    return memory if memory.source != OBJECT else replace(memory, caption=memory.caption.partition(_NEAR)[0])


def is_called(known: KnownObject, text: str) -> bool:
    """Tell whether a text, such as 'red cups', names an object: by its name or the detector's, or another
    word for that, and by its colour if the text has one."""
    said = {known.name, known.recognised_as, best_label(known.facts.labels)}
    if any(_says(name, known.facts.colour, text) for name in said):
        return True
    colours = content_stems(known.facts.colour)
    bare = [word for word in words(text) if stem(word) not in colours]
    return is_name_of(known.recognised_as, ' '.join(bare))


def is_name_of(label: str, text: str) -> bool:
    """Tell whether people call what has this label so: a sports ball 'ball', and no stop sign 'sign'."""
    asked = [{word, *synonyms(word)} for word in map(stem, words(text))]
    named = [[*map(stem, words(name))] for name in everyday_names(label)]
    return any(
        len(name) == len(asked) and all(w in of for w, of in zip(name, asked, strict=True)) for name in named
    )


def _says(name: str, colour: str, text: str) -> bool:
    """Tell whether all that a text says is in a name, or is its colour."""
    asked = [{word, *synonyms(word)} for word in content_stems(text)]
    label, colours = content_stems(name), content_stems(colour)
    return not label.isdisjoint(set[str]().union(*asked)) and not any(
        (label | colours).isdisjoint(word) for word in asked
    )


def presence_note(memory: Memory, now_ns: int, zone: tzinfo = timezone.utc) -> str:
    """Return what is known of whether an object is still where it was seen last; empty: there is no news."""
    known = known_objects([memory])
    if not known or known[0].name in TRANSIENT:
        return ''
    seen_ns, looked_ns = known[0].facts.intervals[-1][1], known[0].facts.looked
    if known[0].facts.taken:
        return f'a person said at {format_clock(known[0].facts.taken, zone)} that it is not there any more'
    if known[0].missing_ns is not None:
        return f'it was gone when I passed at {format_clock(known[0].missing_ns, zone)}'
    if looked_ns - seen_ns > ONE_INTERVAL_NS:
        return f'at {format_clock(looked_ns, zone)} I passed and did not recognise it'
    return 'nobody has looked since' if now_ns - seen_ns > ONE_INTERVAL_NS else ''


def events_of(known: KnownObject) -> list[tuple[int, str]]:
    """Return what happened to an object, oldest first: when [ns], and in a word or two."""
    found = [(start, 'seen') for start, _ in known.facts.intervals]
    found += [(start, 'gone') for start, _ in known.facts.absences]
    found += [(at_ns, state) for at_ns, state, _ in known.facts.states]
    for _, came_ns, (x, y, _), (to_x, to_y, _) in known.moves:
        found.append((came_ns, f'moved from ({x:.1f}, {y:.1f}) to ({to_x:.1f}, {to_y:.1f})'))
    return sorted(found)


def events_said(known: KnownObject, zone: tzinfo, most: int) -> str:
    """Return what happened to an object, the last so many events of it, oldest first."""
    return '; '.join(f'{event} {format_clock(at_ns, zone)}' for at_ns, event in events_of(known)[-most:])


VISIT_GAP_NS = 1800 * NS  # when nothing was seen for so long, what comes next is another visit


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """Something that became of an object.

    :param at_ns: when that was seen first
    """

    kind: Literal['appeared', 'moved', 'missing', 'returned']
    known: KnownObject
    at_ns: int


def changes_of(known: KnownObject, since_ns: int, until_ns: int | None = None) -> list[ObjectChange]:
    """Return what became of an object in a time, oldest first; of what goes where it wants, nothing.

    :param until_ns: None: until now
    """
    if known.name in TRANSIENT:
        return []
    seen, came = known.facts.intervals, [move[1] for move in known.moves]
    found = [ObjectChange('appeared', known, seen[0][0]), *(ObjectChange('moved', known, at) for at in came)]
    for first_ns, last_ns in known.facts.absences:
        back_ns = min((start for start, _ in seen if start >= last_ns), default=None)
        found.append(ObjectChange('missing', known, first_ns))
        if back_ns is not None and not any(first_ns <= at <= back_ns for at in came):
            found.append(ObjectChange('returned', known, back_ns))
    within = [new for new in found if since_ns < new.at_ns and (until_ns is None or new.at_ns <= until_ns)]
    return sorted(within, key=lambda change: change.at_ns)


def visits_among(known: Iterable[KnownObject]) -> tuple[Interval, ...]:
    """Return from when to when the robot looked at things, oldest first."""
    times = [
        span
        for thing in known
        for span in (
            *thing.facts.intervals,
            *((at, at) for at in (thing.facts.looked, *sum(thing.facts.absences, ()))),
        )
        if span[1] not in (0, thing.facts.taken)  # a person saw that it was taken
    ]
    return joined(times, VISIT_GAP_NS)
