"""The planner without a language model: rules, and the memory's own recall.

It reads the question (remembr_ros.agent.request), recalls, keeps what really fits, chooses and cites.
It never guesses: what does not fit well enough was not seen.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from remembr_ros.agent.answer import Answer, Kind, Question
from remembr_ros.agent.grounding import Choice, Claim, choose, ground
from remembr_ros.agent.matching import asked_stems, fitting, is_cut_off, readable, shows_all, variants
from remembr_ros.agent.phrasing import with_facts
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.agent.request import Relation, Request, parse_request
from remembr_ros.geometry import distance
from remembr_ros.memory.ranking import content_stems
from remembr_ros.memory.recall import Hit, Recall, Scope
from remembr_ros.memory.record import Memory
from remembr_ros.memory.sentences import split_sentences
from remembr_ros.timestamps import NS

NAME = 'offline'

AS_GOOD = 0.08
"""Memories whose score is this near to the best one's show the thing as well as that one does."""

POOL = 30
"""Memories looked at for one question."""

READING_RADIUS_M = 4.0
"""What can be read 'at' a place can be read from this near to it."""

CUT_OFF_RADIUS_M = 8.0
"""A sign that was cut off by the edge of an image is read in full from this near."""

HERE_RADIUS_M = 10.0
"""What is 'here' is this near."""

SAME_PLACE_M = 5.0
"""Sights of a thing from this near to each other are counted as one thing."""

CANNOT_RELATE = 'The offline planner cannot relate two things to each other; a language model can (--llm).'

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
        if request.clock:
            claim = Claim(Kind.NOT_SEEN, 'That is no question about what the memory holds.')
            return ground(claim, question, NAME)
        scope = _around_here(request, question, scope)
        total = recall.count(scope)
        hits = self._recall(request, question, recall, scope) if total else []
        relation = request.relation
        if relation is not None and relation.beside:
            # Seen at once they are near each other; what else is, would be a guess.
            hits = [hit for hit in hits if shows_all(request, hit.memory)]
        unrelated = relation if relation is not None and total and not (relation.beside and hits) else None
        run.check()
        run.on_progress(Progress('answering', f'{len(hits)} of {total} memories fit', len(hits)))
        if unrelated is not None:
            claim = _related(request, unrelated, question, recall, scope)
        elif not hits:
            claim = _absent(request, question, scope, total)
        else:
            claim = _claim(request, question, hits, scope, recall)
        return with_facts(ground(claim, question, NAME), question)

    def _recall(self, request: Request, question: Question, recall: Recall, scope: Scope) -> list[Hit]:
        window, here = request.window, question.here
        found: list[Hit] = []
        if request.target:
            found = _by_text(request, recall, scope)
        elif window.at_ns is not None:
            found = recall.by_time(window.at_ns, scope, 1)
        elif request.here:
            found = recall.by_position(here.position, scope, 3) if here else recall.newest(scope, 1)
        elif request.whatever and request.choice is Choice.EARLIEST:
            found = recall.by_time(0, scope, POOL if request.reading else 1)
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
    fit = (fitting(request, hit) for hit in best.values())
    found = sorted((hit for hit in fit if hit is not None), key=lambda hit: -hit.score)
    if request.numbered:
        found = [hit for hit in found if not is_cut_off(request, _memories_around(hit, recall))]
    return found


def _memories_around(hit: Hit, recall: Recall) -> list[Memory]:
    pose = hit.memory.pose
    if pose is None:
        return [hit.memory]
    scope = Scope(near=pose.position, radius_m=CUT_OFF_RADIUS_M, map_id=hit.memory.map_id)
    return [near.memory for near in recall.by_position(pose.position, scope, POOL)]


def _around_here(request: Request, question: Question, scope: Scope) -> Scope:
    """Narrow down a scope for a question such as 'Is there a printer here?' or 'Where are you?'."""
    if not request.here or question.here is None:
        return scope
    if request.target:
        if request.kind not in (Kind.BINARY, Kind.TEXT) or request.choice is not Choice.CITED_FIRST:
            return scope
    elif request.window.at_ns is not None:
        return scope
    return replace(scope, near=question.here.position, radius_m=HERE_RADIUS_M)


def _related(request: Request, relation: Relation, question: Question, recall: Recall, scope: Scope) -> Claim:
    """Answer how long it took from one thing to another, or that one was not seen at all; nothing else."""
    spans = request.kind is Kind.DURATION and relation.span
    if not spans and not relation.beside:
        return Claim(Kind.NOT_SEEN, CANNOT_RELATE)
    sights: list[list[Hit]] = []
    names: dict[str, str] = {}
    for part in (relation.first, relation.second):
        wanted = parse_request(f'Where is {part}?', question.now_ns)
        hits = _by_text(wanted, recall, scope) if wanted.target else []
        if not hits:
            thing = wanted.target or part
            if relation.beside:
                return Claim(Kind.BINARY, f'No: no memory shows {thing}.', binary=False)
            return Claim(Kind.NOT_SEEN, f'I have not seen {thing}: no memory shows it.')
        sights.append([hit for hit in hits if hit.score >= hits[0].score - AS_GOOD])
        names |= {hit.memory.id: _shown(wanted, hit) for hit in sights[-1]}
    pairs = [(a, b) for a, b in product(*sights) if a.memory.id != b.memory.id]
    if not spans or not pairs:
        return Claim(Kind.NOT_SEEN, CANNOT_RELATE)
    onward = [(a, b) for a, b in pairs if a.memory.start_ns <= b.memory.start_ns]
    start, end = min(
        onward or [(b, a) for a, b in pairs], key=lambda pair: pair[1].memory.start_ns - pair[0].memory.end_ns
    )
    text = f'From {names[start.memory.id]} to {names[end.memory.id]} it took'
    return Claim(Kind.DURATION, text, [start, end], start=start, end=end)


def _absent(request: Request, question: Question, scope: Scope, total: int) -> Claim:
    thing = request.target or 'that'
    if request.kind is Kind.BINARY and total:
        return Claim(Kind.BINARY, f'No: none of {total} memories shows {thing}.', binary=False)
    return Claim(Kind.NOT_SEEN, f'I have not seen {thing}: {_why_not(request, question, scope, total)}.')


# One return per kind of answer.
def _claim(request: Request, question: Question, hits: list[Hit], scope: Scope, recall: Recall) -> Claim:  # noqa: PLR0911
    as_good = [hit for hit in hits if hit.score >= hits[0].score - AS_GOOD]
    if request.kind is Kind.POSITION:
        placed = [hit for hit in as_good if hit.memory.pose is not None]
        if not placed:
            thing = request.target or 'that'
            return Claim(Kind.NOT_SEEN, f'I have seen {thing}, but do not know where I was.')
        return Claim(Kind.POSITION, _seen(request, placed[0]), placed, choice=request.choice)
    if request.kind is Kind.TIME:
        choice = Choice.LATEST if request.choice is Choice.CITED_FIRST else request.choice
        return Claim(Kind.TIME, _seen(request, as_good[0]), as_good, choice=choice)
    if request.kind is Kind.DURATION:
        stay = _stay(choose(as_good, request.choice, question), hits)
        return Claim(
            Kind.DURATION,
            f'{_shown(request, stay[0])} was seen for' if request.target else 'That lasted',
            stay,
            start=stay[0],
            end=stay[-1],
        )
    if request.kind is Kind.BINARY:
        return Claim(Kind.BINARY, f'Yes: {_quoted(request, as_good[0])}', as_good, binary=True)
    if request.reading:
        return _reading(request, hits, as_good, scope, recall)
    if request.counting:
        return _count(request, hits)
    best = choose(as_good, request.choice, question)
    return Claim(Kind.TEXT, _quoted(request, best), [best, *(hit for hit in as_good if hit is not best)])


def _why_not(request: Request, question: Question, scope: Scope, total: int) -> str:
    if total:
        return f'none of {total} memories shows it'
    if scope.near is not None:
        return 'I remember nothing of this place'
    if request.window.after_ns is not None or request.window.before_ns is not None:
        return 'I remember nothing of that time'
    return 'the memory holds nothing' + (f' on map {question.map_id}' if question.map_id else '')


def _count(request: Request, hits: Sequence[Hit]) -> Claim:
    """Say at how many places the thing was seen."""
    groups: list[list[Hit]] = []
    for hit in hits:
        near = [group for group in groups if any(_is_same_place(hit, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), hit])
    places = f'{len(groups)} places' if len(groups) > 1 else 'one place'
    places += ' or more' if len(hits) >= POOL else ''
    text = (
        f'{request.target}: seen at {places}, those within {SAME_PLACE_M:.0f} m of each other taken as one.'
    )
    return Claim(Kind.TEXT, text, [group[0] for group in groups])


def _is_same_place(a: Hit, b: Hit) -> bool:
    if a.memory.pose is None or b.memory.pose is None:
        return True  # nothing says that it is another
    same_map = a.memory.map_id == b.memory.map_id
    return same_map and distance(a.memory.pose.position, b.memory.pose.position) <= SAME_PLACE_M


def _reading(
    request: Request, hits: Sequence[Hit], as_good: Sequence[Hit], scope: Scope, recall: Recall
) -> Claim:
    """Say what can be read at the place of the best memory, nearest text first, or at a time."""
    if request.target or request.here:
        nearby = list(as_good[:1])
        pose = nearby[0].memory.pose
        if pose is not None:
            around = replace(
                scope, near=pose.position, radius_m=READING_RADIUS_M, map_id=nearby[0].memory.map_id
            )
            nearby += recall.by_position(pose.position, around, POOL)
    else:
        nearby = [hit for hit in hits if readable(hit.memory)] or list(hits)
        if request.choice in (Choice.EARLIEST, Choice.LATEST):
            nearby = nearby[:1]
    seen: dict[str, str] = {}
    evidence: dict[str, Hit] = {}
    for hit in nearby:
        for text in readable(hit.memory):
            if text.lower() not in seen:
                seen[text.lower()] = text
                evidence.setdefault(hit.memory.id, hit)
    if not seen:
        return Claim(Kind.TEXT, 'Nothing could be read there.', nearby[:1])
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
