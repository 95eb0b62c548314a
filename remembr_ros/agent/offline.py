"""The planner without a language model: rules, and the memory's own recall.

It reads the question (remembr_ros.agent.request), recalls, keeps what really fits, chooses and cites.
It never guesses: what does not fit well enough was not seen.
"""

from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.answer import Answer, Kind, Question
from remembr_ros.agent.grounding import Choice, Claim, choose, ground
from remembr_ros.agent.matching import asked_stems, fitting, variants
from remembr_ros.agent.phrasing import with_facts
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.agent.request import Request, parse_request
from remembr_ros.memory.ranking import content_stems
from remembr_ros.memory.recall import Hit, Recall, Scope
from remembr_ros.memory.sentences import split_sentences
from remembr_ros.timestamps import NS

NAME = 'offline'

AS_GOOD = 0.08
"""Memories whose score is this near to the best one's show the thing as well as that one does."""

POOL = 30
"""Memories looked at for one question."""

READING_RADIUS_M = 4.0
"""What can be read 'at' a place can be read from this near to it."""

HERE_RADIUS_M = 10.0
"""What is 'here' is this near."""

STAY_GAP_NS = 30 * NS
"""A thing out of sight for longer than this was left, and seen again is seen another time."""


class OfflinePlanner:
    """Answers questions by rules."""

    @property
    def name(self) -> str:
        return NAME

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        request = parse_request(question.text, question.now_ns)
        scope = Scope(
            after_ns=request.window.after_ns,
            before_ns=request.window.before_ns,
            map_id=question.map_id or None,
        )
        run.check()
        run.on_progress(Progress('recalling', request.target or question.text))
        total = recall.count(scope)
        hits = self._recall(request, question, recall, scope) if total else []
        run.check()
        run.on_progress(Progress('answering', f'{len(hits)} of {total} memories fit', len(hits)))
        claim = _claim(request, question, hits, recall, total)
        return with_facts(ground(claim, question, NAME), question)

    def _recall(self, request: Request, question: Question, recall: Recall, scope: Scope) -> list[Hit]:
        window, here = request.window, question.here
        found: list[Hit] = []
        if request.target:
            found = _by_text(request, recall, _around_here(request, question, scope))
        elif window.at_ns is not None:
            found = recall.by_time(window.at_ns, scope, 1)
        elif request.here:
            found = recall.by_position(here.position, scope, 3) if here else recall.newest(scope, 1)
        elif request.whatever and request.choice is Choice.EARLIEST:
            found = recall.by_time(0, scope, 1)
        elif request.whatever or window.after_ns is not None or window.before_ns is not None:
            found = recall.newest(scope, POOL)
        return found


def _by_text(request: Request, recall: Recall, scope: Scope) -> list[Hit]:
    """Return the memories that show what was asked for under any of its names, best first."""
    best: dict[str, Hit] = {}
    for text in variants(request.target):
        for hit in recall.by_text(text, scope, POOL):
            known = best.get(hit.memory.id)
            if known is None or hit.score > known.score:
                best[hit.memory.id] = hit
    found = (fitting(request, hit) for hit in best.values())
    return sorted((hit for hit in found if hit is not None), key=lambda hit: -hit.score)


def _around_here(request: Request, question: Question, scope: Scope) -> Scope:
    """Narrow down a scope for a question such as 'Is there a printer here?'."""
    if not request.here or question.here is None or request.kind not in (Kind.BINARY, Kind.TEXT):
        return scope
    if request.choice is not Choice.CITED_FIRST:
        return scope
    return replace(scope, near=question.here.position, radius_m=HERE_RADIUS_M)


# One return per kind of answer.
def _claim(request: Request, question: Question, hits: list[Hit], recall: Recall, total: int) -> Claim:  # noqa: PLR0911
    thing = request.target or 'that'
    if not hits:
        if request.kind is Kind.BINARY and total:
            return Claim(Kind.BINARY, f'No: none of {total} memories shows {thing}', binary=False)
        reason = f'none of {total} memories shows it' if total else 'I remember nothing of that time'
        return Claim(Kind.NOT_SEEN, f'I have not seen {thing}: {reason}.')
    as_good = [hit for hit in hits if hit.score >= hits[0].score - AS_GOOD]
    if request.kind is Kind.POSITION:
        placed = [hit for hit in as_good if hit.memory.pose is not None]
        if not placed:
            return Claim(Kind.NOT_SEEN, f'I have seen {thing}, but do not know where I was.')
        return Claim(Kind.POSITION, _seen(request, placed[0]), placed, choice=request.choice)
    if request.kind is Kind.TIME:
        choice = Choice.LATEST if request.choice is Choice.CITED_FIRST else request.choice
        return Claim(Kind.TIME, _seen(request, as_good[0]), as_good, choice=choice)
    if request.kind is Kind.DURATION:
        stay = _stay(choose(as_good, request.choice, question), hits)
        return Claim(
            Kind.DURATION,
            f'{thing} was seen for' if request.target else 'That lasted',
            stay,
            start=stay[0],
            end=stay[-1],
        )
    if request.kind is Kind.BINARY:
        return Claim(Kind.BINARY, f'Yes: {_quoted(request, as_good[0])}', as_good, binary=True)
    if request.reading:
        return _reading(as_good, recall)
    best = choose(as_good, request.choice, question)
    return Claim(Kind.TEXT, _quoted(request, best), [best, *(hit for hit in as_good if hit is not best)])


def _reading(hits: Sequence[Hit], recall: Recall) -> Claim:
    """Say what can be read at the place of the best memory, nearest text first."""
    nearby = list(hits[:1])
    pose = hits[0].memory.pose
    if pose is not None:
        scope = Scope(near=pose.position, radius_m=READING_RADIUS_M, map_id=hits[0].memory.map_id)
        nearby += recall.by_position(pose.position, scope, POOL)
    seen: dict[str, str] = {}
    evidence: dict[str, Hit] = {}
    for hit in nearby:
        for text in hit.memory.scene_text:
            if text.lower() not in seen:
                seen[text.lower()] = text
                evidence.setdefault(hit.memory.id, hit)
    if not seen:
        return Claim(Kind.TEXT, 'Nothing could be read there.', hits[:1])
    texts = ', '.join(f'"{text}"' for text in seen.values())
    return Claim(Kind.TEXT, f'There one can read {texts}.', list(evidence.values()))


def _stay(best: Hit, hits: Sequence[Hit]) -> list[Hit]:
    """Return the memories of one uninterrupted sight around the best one, in the order of time."""
    ordered = sorted(hits, key=lambda hit: (hit.memory.start_ns, hit.memory.id))
    middle = next(i for i, hit in enumerate(ordered) if hit.memory.id == best.memory.id)
    first = last = middle
    while first > 0 and ordered[first].memory.start_ns - ordered[first - 1].memory.end_ns <= STAY_GAP_NS:
        first -= 1
    while (
        last + 1 < len(ordered)
        and ordered[last + 1].memory.start_ns - ordered[last].memory.end_ns <= STAY_GAP_NS
    ):
        last += 1
    return ordered[first : last + 1]


def _seen(request: Request, hit: Hit) -> str:
    return f'{_shown(request, hit)} was seen' if request.target else 'I was'


def _shown(request: Request, hit: Hit) -> str:
    """Return what was asked for as the camera read it, where it did."""
    asked = asked_stems(request)
    for text in hit.memory.scene_text:
        if asked & content_stems(text):
            return f'"{text}"'
    return request.target


def _quoted(request: Request, hit: Hit) -> str:
    """Return the sentences of a caption that speak of what was asked for; all of a short caption."""
    asked = asked_stems(request)
    sentences = split_sentences(hit.memory.caption)
    telling = [sentence for sentence in sentences if asked & content_stems(sentence)]
    return ' '.join((telling or sentences)[:3]) or 'nothing that could be described'
