"""Answers by reference: what a planner cites becomes poses, times and durations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from remembr_ros.agent.answer import Answer, Kind, Question
from remembr_ros.errors import Ungrounded
from remembr_ros.geometry import distance
from remembr_ros.memory.recall import Hit
from remembr_ros.memory.sentences import split_sentences
from remembr_ros.timestamps import NS

_NUMBER = re.compile(r'\d+')


class Choice(str, Enum):
    """Which of several cited memories decides."""

    CITED_FIRST = 'cited_first'
    NEAREST = 'nearest'
    FARTHEST = 'farthest'
    LATEST = 'latest'
    EARLIEST = 'earliest'


@dataclass(frozen=True, slots=True)
class Claim:
    """What a planner says, by reference.

    :param evidence: the memories it rests on
    :param choice: which of them decides about place and time
    :param start: kind DURATION: the memory in which it began
    :param end: kind DURATION: the memory in which it ended
    """

    kind: Kind
    text: str
    evidence: Sequence[Hit] = ()
    binary: bool | None = None
    choice: Choice = Choice.CITED_FIRST
    start: Hit | None = None
    end: Hit | None = None


def ground(claim: Claim, question: Question, planner: str) -> Answer:
    """Return the answer with every number taken from the evidence.

    :raises Ungrounded: the evidence does not support an answer of this kind; the message says what is missing
    """
    if claim.kind is Kind.NOT_SEEN:
        return Answer(Kind.NOT_SEEN, claim.text, planner, frame_id=question.frame_id, map_id=question.map_id)
    evidence = list(claim.evidence)
    duration_s: float | None = None
    if claim.kind is Kind.DURATION:
        start, end = claim.start, claim.end
        if start is None or end is None:
            raise Ungrounded('a duration needs the memory in which it starts and the one in which it ends')
        if end.memory.end_ns < start.memory.start_ns:
            raise Ungrounded('the duration ends before it starts; swap its start and its end')
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
    return Answer(
        claim.kind,
        claim.text,
        planner,
        binary=claim.binary if claim.kind is Kind.BINARY else None,
        pose=memory.pose if memory else None,
        frame_id=memory.frame_id if memory else question.frame_id,
        map_id=memory.map_id if memory else question.map_id,
        time_ns=time_ns,
        duration_s=duration_s,
        evidence=tuple(evidence),
    )


def without_invented_numbers(claim: Claim, question: Question) -> Claim:
    """Return the claim without the sentences whose numbers neither the question nor a cited memory has.

    Places, times and durations are appended by code; what a model writes of them is not to be trusted.

    :raises Ungrounded: a text that is nothing but such sentences
    """
    cited = [*claim.evidence, *(hit for hit in (claim.start, claim.end) if hit is not None)]
    seen = [text for hit in cited for text in (hit.memory.caption, *hit.memory.scene_text)]
    known = set(_NUMBER.findall(' '.join((question.text, *seen))))
    sentences = split_sentences(claim.text)
    text = ' '.join(sentence for sentence in sentences if known.issuperset(_NUMBER.findall(sentence)))
    if claim.kind is Kind.TEXT and not text:
        raise Ungrounded('the text is empty, or has numbers that no cited memory shows')
    return replace(claim, text=text or ('I have not seen that.' if claim.kind is Kind.NOT_SEEN else ''))


def choose(hits: Sequence[Hit], choice: Choice, question: Question) -> Hit:
    """Return the memory that decides; without a known place, nearest and farthest mean cited first."""
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
    if choice is Choice.LATEST:
        return max(hits, key=lambda hit: hit.memory.end_ns)
    if choice is Choice.EARLIEST:
        return min(hits, key=lambda hit: hit.memory.start_ns)
    return hits[0]
