"""Answers questions about how the robot moved: finds the anchors, then measures."""

from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim, choose
from remembr_ros.agent.model.same_place import span, stay_of
from remembr_ros.agent.offline.motion_request import MotionRequest, parse_motion
from remembr_ros.agent.offline.relation import RelationKind
from remembr_ros.agent.offline.relevance_model import as_good_as_best, find_sightings
from remembr_ros.agent.offline.request import Request, parse_request, thing_of
from remembr_ros.agent.overview.motion_answer import AROUND_NS, MotionQuestion, Moved, motion_answer
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.motion.journey import Journey, around, journey
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import NS

EDGE_NS = 60 * NS  # How the robot moved is read this far around a time, since neighbours tell of each other
SURE = 0.9  # What is measured holds; whether the question was understood, the rules do not know


def answer_motion(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return the answer to a question about how the robot moved; None: it is about something else.

    :param scope: the time and the map that the question is about
    """
    motion = parse_motion(request.window.rest)
    if motion is None or (motion.what is Moved.GOING and request.kind in (Kind.TEXT, Kind.POSITION)):
        return None
    anchors: list[list[Hit]] = []
    for text in motion.anchors:
        anchors.append(_stay(text, question, recall, scope))
        if not anchors[-1]:
            thing = thing_of(f'Where is {text}?')
            return Claim(Kind.NOT_SEEN, f'I have not seen {thing}: no memory shows it.', confidence=SURE)
    way, note = _journey(motion, anchors, recall, scope)
    if not way.tracks:
        return Claim(Kind.NOT_SEEN, 'I do not know how I moved then: no memory tells where I was.')
    hits = [hit for stay in anchors for hit in stay]
    asked = _asked(motion, request, hits)
    if motion.now and not hits and asked.at_ns is None:
        asked = replace(asked, at_ns=max(track.memories[-1].end_ns for track in way.tracks))
    claim = motion_answer(asked, way)
    return replace(
        claim, text=note + claim.text, confidence=SURE * max((hit.score for hit in hits), default=1.0)
    )


def _asked(motion: MotionRequest, request: Request, anchors: Sequence[Hit]) -> MotionQuestion:
    choice = motion.end if request.choice is Choice.CITED_FIRST else request.choice
    chosen = choice is not Choice.CITED_FIRST or motion.longest
    next_one = motion.relation is RelationKind.AFTER and not chosen
    return MotionQuestion(
        motion.what,
        Kind.TEXT if motion.which else request.kind,
        side=motion.side,
        around=motion.around,
        counting=request.counting or request.visits,
        choice=Choice.EARLIEST if next_one else choice,
        longest=motion.longest,
        least_s=motion.least_s,
        total=motion.total or not (chosen or anchors or request.window.after_ns is None),
        at_ns=None if anchors else request.window.at_ns,
        anchors=anchors,
        at_anchor=motion.relation is RelationKind.WHILE,
    )


def _stay(text: str, question: Question, recall: Recall, scope: Scope) -> list[Hit]:
    """Return the stay in which an anchor was seen, the last unless it is said otherwise."""
    wanted = parse_request(f'Where is {text}?', question.now_ns, question.zone)
    hits = find_sightings(wanted, recall, scope) if wanted.target else []
    if not hits:
        return []
    choice = Choice.LATEST if wanted.choice is Choice.CITED_FIRST else wanted.choice
    best = as_good_as_best(hits)
    return stay_of(choose(best, choice, question), best)


def _journey(
    motion: MotionRequest, anchors: Sequence[Sequence[Hit]], recall: Recall, scope: Scope
) -> tuple[Journey, str]:
    """Return the way in the time that a question is about, which its anchors narrow down, and what an answer
    has to say of it first.

    Of several robots it is that of the one which saw the anchors, or saw anything last.
    """
    after_ns, before_ns = scope.after_ns, scope.before_ns
    if anchors:
        # An anchor is passed while it is seen for the last time; who turns then, turns after it.
        passed = sorted(max(hit.memory.start_ns for hit in stay) for stay in anchors)
        if motion.relation in (RelationKind.AFTER, RelationKind.BETWEEN):
            after_ns = passed[0]
        if motion.relation in (RelationKind.BEFORE, RelationKind.BETWEEN):
            before_ns = passed[-1]
        if motion.relation is RelationKind.WHILE:
            after_ns, before_ns = span(anchors[0])
    wide_ns = AROUND_NS if anchors else EDGE_NS
    memories, whole = around(recall, replace(scope, after_ns=after_ns, before_ns=before_ns), wide_ns)
    note = '' if whole else 'Of the latest that I remember: '
    way = journey(memories, after_ns, before_ns)
    last = {track.memories[-1].robot: track.memories[-1] for track in way.tracks}
    if len(last) > 1:
        shown = [hit.memory for stay in anchors for hit in stay]
        robot = (shown[0] if shown else max(last.values(), key=lambda memory: memory.end_ns)).robot
        way = journey([memory for memory in memories if memory.robot == robot], after_ns, before_ns)
        note += f'{robot}: '
    return way, note
