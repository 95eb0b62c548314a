"""Answers by reference: what a planner cites becomes poses, times and durations."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.quoting import ORDINALS, TENS, TO_TWENTY
from remembr_ros.agent.model.same_place import SamePlace
from remembr_ros.errors import Ungrounded
from remembr_ros.geometry import distance
from remembr_ros.memory.matching.ranking import split_sentences
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

Placed = Answer | Memory | Question  # What has places, in a frame and on a map

_NUMBER = re.compile(r'\d+(?:[.:,/\u2044]\d+)*')
_VALUES = {
    **{word: str(value) for value, word in enumerate(TO_TWENTY)},
    **{word: f'#{value}' for value, word in enumerate(ORDINALS[2:], start=3)},
    **dict.fromkeys(('half', 'halfway', 'half-way', 'half way'), '1/2'),
    'quarter': '1/4',
}
_SMALL_VALUES = {'zero': '#0', 'one': '#1', 'first': '#1', 'second': '#2'}
"""With a #: which one it is, and not how many; the number of cited memories is none of these."""
_LARGER = [*TENS[1:], 'thousand', 'dozen']
_NUMBER_WORD = re.compile(
    rf'\b({"|".join([*TO_TWENTY[2:], *ORDINALS[2:], *_LARGER])}|half(?:[- ]?way)?|quarter)s?\b', re.IGNORECASE
)
"""Without zero, one, first and second, which are rarely numbers: 'one can see', 'I first saw'."""
_COUNTED = r'floor|level|storey|story|door|room|gate|met(?:re|er)|kilomet(?:re|er)|step|minute|hour|day|week'
_SMALL_NUMBER = re.compile(
    rf'\b(zero|one|first|second)\s+(?:{_COUNTED})s?\b|\b(?:minus|number|{_COUNTED})\s+(zero|one)\b',
    re.IGNORECASE,
)
_DAY_WORD = re.compile(
    r'\b(yesterday|today|tonight|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|morning|noon|midday|'
    r'afternoon|evening|night|midnight|january|february|april|june|july|august|september|october|november|'
    r'december)s?\b',
    re.IGNORECASE,
)


MOST_EVIDENCE = 20  # Memories that an answer shows


class Choice(str, Enum):
    """Which of several cited memories decides: the first cited one; the nearest to here or the farthest; the
    last seen or the first seen; one from the place where most of them were made; every one, to visit all; the
    same, in the order cited."""

    CITED_FIRST = 'cited_first'
    NEAREST = 'nearest'
    FARTHEST = 'farthest'
    LATEST = 'latest'
    EARLIEST = 'earliest'
    MOST_OFTEN = 'most_often'
    EVERY = 'every'
    IN_ORDER = 'in_order'


@dataclass(frozen=True, slots=True)
class Claim:
    """What a planner says, by reference.

    :param evidence: the memories it rests on
    :param choice: which of them decides about place and time
    :param start: kind DURATION: the memory in which it began
    :param end: kind DURATION: the memory in which it ended
    :param duration_s: kind DURATION: how much of that time it was, if code measured it [s]
    :param confidence: see :class:`remembr_ros.agent.model.answer.Answer`
    :param note: what an answer says after its place or time, with a space before it
    :param about: what was looked for and found, or is known not to be there, besides what the evidence says
    :param unused: words of the question that nothing of the claim is about; None: whoever made it does not
        know
    """

    kind: Kind
    text: str
    evidence: Sequence[Hit] = ()
    binary: bool | None = None
    choice: Choice = Choice.CITED_FIRST
    start: Hit | None = None
    end: Hit | None = None
    duration_s: float | None = None
    confidence: float = 0.0
    note: str = ''
    about: str = ''
    unused: Sequence[str] | None = None

    @property
    def denies(self) -> bool:
        """Whether it says that something is not so, or was not seen."""
        return self.binary is False or self.kind is Kind.NOT_SEEN


def yes_or_no(yes: bool, text: str, evidence: Sequence[Hit] = (), *, sure: float = 0.0) -> Claim:
    """Return a claim that begins with yes or no."""
    return Claim(Kind.BINARY, f'{"Yes" if yes else "No"}: {text}', evidence, binary=yes, confidence=sure)


def shown(memories: Iterable[Memory]) -> list[Hit]:
    """Return memories as evidence, each once."""
    return [Hit(memory, 1.0) for memory in {memory.id: memory for memory in memories}.values()]


def comparable(place: Placed, other: Placed) -> bool:
    """Tell whether there is a distance between the places of both."""
    return (place.frame_id, place.map_id) == (other.frame_id, other.map_id)


def ground(claim: Claim, question: Question, planner: str) -> Answer:
    """Return the answer with every number taken from the evidence.

    :raises Ungrounded: no memory is cited, none that has the place asked for, or they make no answer of this
        kind; the message says what is missing
    """
    if claim.kind is Kind.NOT_SEEN:
        return Answer(
            Kind.NOT_SEEN,
            claim.text,
            planner,
            frame_id=question.frame_id,
            map_id=question.map_id,
            confidence=claim.confidence,
        )
    evidence = list(claim.evidence)
    duration_s: float | None = None
    if claim.kind is Kind.DURATION:
        start, end = claim.start, claim.end
        if start is None or end is None:
            raise Ungrounded('a duration needs the memory in which it starts and the one in which it ends')
        if end.memory.end_ns < start.memory.start_ns:
            raise Ungrounded('the duration ends before it starts; swap its start and its end')
        duration_s = claim.duration_s
        if duration_s is None:
            duration_s = (end.memory.end_ns - start.memory.start_ns) / NS
        evidence = list({hit.memory.id: hit for hit in (start, end, *evidence)}.values())
    if claim.kind is Kind.BINARY and claim.binary is None:
        raise Ungrounded('a yes-or-no answer needs binary: true or false')
    if not evidence and not (claim.kind is Kind.BINARY and claim.binary is False):
        raise Ungrounded('an answer needs at least one memory as evidence; without any, answer not_seen')
    candidates = evidence
    if claim.kind is Kind.POSITION:
        candidates = [hit for hit in evidence if hit.memory.pose is not None]
        if not candidates:
            raise Ungrounded('none of the cited memories has a place; cite one that has, or answer not_seen')
    decisive = choose(candidates, claim.choice, question) if candidates else None
    memory = decisive.memory if decisive else None
    time_ns: int | None = None
    if claim.kind is Kind.TIME and memory is not None:
        time_ns = memory.start_ns if claim.choice is Choice.EARLIEST else memory.end_ns
    if decisive is not None:
        evidence = [decisive, *(hit for hit in evidence if hit is not decisive)]
    text = claim.text
    if len(evidence) > MOST_EVIDENCE and claim.kind in (Kind.TEXT, Kind.BINARY):  # others rest on the first
        text = f'{text} ({len(evidence)} memories, of which {MOST_EVIDENCE} are shown)'
    return Answer(
        claim.kind,
        text,
        planner,
        binary=claim.binary if claim.kind is Kind.BINARY else None,
        pose=memory.pose if memory else None,
        frame_id=memory.frame_id if memory else question.frame_id,
        map_id=memory.map_id if memory else question.map_id,
        time_ns=time_ns,
        duration_s=duration_s,
        evidence=tuple(evidence[:MOST_EVIDENCE]),
        every_place=claim.kind is Kind.POSITION and claim.choice in (Choice.EVERY, Choice.IN_ORDER),
        in_order=claim.kind is Kind.POSITION and claim.choice is Choice.IN_ORDER,
        confidence=claim.confidence,
    )


def without_invented_numbers(claim: Claim, question: Question, texts: Sequence[str] = ()) -> Claim:
    """Return the claim without the sentences whose numbers nobody but the model knows.

    Numbers may be repeated, in digits or in words, from the question, from a cited memory and from what code
    told; a count of the cited memories is one, too. Places, times and durations are appended by code; what a
    model writes of them is not to be trusted. Where code appends them, this holds for days, too.

    :param texts: told by code, such as a measured distance
    :raises Ungrounded: a text that is nothing but such sentences
    """
    cited = [*claim.evidence, *(hit for hit in (claim.start, claim.end) if hit is not None)]
    seen = [text for hit in cited for text in (hit.memory.caption, *hit.memory.scene_text)]
    known = {str(len({hit.memory.id for hit in cited}))}
    days: set[str] = set()
    for text in (question.text, *seen, *texts):
        days |= _days_in(text)
        numbers = numbers_in(text)
        # '3' of a sign that reads 3.5 may be said, 5.3 may not
        parts = {part for number in numbers for part in re.split('[.:]', number.lstrip('#'))}
        # A model is shown 1/2 for the one character.
        known |= numbers_in(unicodedata.normalize('NFKC', text))
        known |= numbers | parts | {f'#{part}' for part in parts}
    sentences = split_sentences(claim.text)
    if claim.kind in (Kind.POSITION, Kind.TIME, Kind.DURATION):
        sentences = [sentence for sentence in sentences if days.issuperset(_days_in(sentence))]
    text = ' '.join(sentence for sentence in sentences if known.issuperset(numbers_in(sentence)))
    if claim.kind is Kind.TEXT and not text:
        raise Ungrounded('the text is empty, or has numbers that no cited memory shows')
    return replace(claim, text=text or ('I have not seen that.' if claim.kind is Kind.NOT_SEEN else ''))


def numbers_in(text: str) -> set[str]:
    """Return the numbers in a text, those in words as digits: '3.5', '12' for twelve, '#3' for third."""
    numbers = {number.replace(',', '').replace('\u2044', '/') for number in _NUMBER.findall(text)}
    numbers |= {_VALUES.get(word.lower(), word.lower()) for word in _NUMBER_WORD.findall(text)}
    numbers |= {_SMALL_VALUES[(digits or other).lower()] for digits, other in _SMALL_NUMBER.findall(text)}
    values = (unicodedata.numeric(c, None) for c in text if not c.isdecimal())
    return numbers | {str(Fraction(value).limit_denominator(100)) for value in values if value is not None}


def _days_in(text: str) -> set[str]:
    return {word.lower() for word in _DAY_WORD.findall(text)}


def choose(hits: Sequence[Hit], choice: Choice, question: Question) -> Hit:
    """Return the memory that decides; of equals the one cited first.

    Without a known place, nearest, farthest and most often mean cited first.
    """
    in_frame = [
        hit for hit in hits if hit.memory.pose is not None and hit.memory.frame_id == question.frame_id
    ]
    placed = [hit for hit in in_frame if hit.memory.map_id == question.map_id]
    if not question.map_id and len({hit.memory.map_id for hit in in_frame}) == 1:
        placed = in_frame  # no map was named, and there is one
    if choice in (Choice.NEAREST, Choice.FARTHEST) and question.here is not None and placed:
        here = question.here.position

        def away(hit: Hit) -> float:
            return distance(hit.memory.pose.position, here) if hit.memory.pose else 0.0

        return min(placed, key=away) if choice is Choice.NEAREST else max(placed, key=away)
    if choice is Choice.MOST_OFTEN and placed:
        return max(placed, key=lambda hit: _others_at_its_place(hit, placed, question.same_place))
    if choice is Choice.LATEST:
        return max(hits, key=lambda hit: hit.memory.end_ns)
    if choice is Choice.EARLIEST:
        return min(hits, key=lambda hit: hit.memory.start_ns)
    return hits[0]


def _others_at_its_place(hit: Hit, hits: Sequence[Hit], same_place: SamePlace) -> int:
    mapped = hit.memory.frame_id, hit.memory.map_id
    points = [h.memory.pose.position for h in hits if h.memory.pose and comparable(h.memory, hit.memory)]
    return sum(same_place.joins(mapped, hit.memory.pose.position, points)) if hit.memory.pose else 0
