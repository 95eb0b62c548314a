"""What was told of a thing after it was seen: of where it is, the newest sure knowledge wins."""

from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Claim, choose
from remembr_ros.agent.model.memory_prompt import ago
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import POOL
from remembr_ros.agent.offline.not_seen import SURE
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.deeds.deed import LOOK, facts_of
from remembr_ros.memory.deeds.query import is_named
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import AGENT, PERSON, Memory
from remembr_ros.memory.recall_protocol import Recall

_WHERE = r'(?:in|on|at|by|near|under|behind|beside|next to|inside|outside|with|into|onto|to)'
_PLACED = any_case(
    rf'(?:\b(?:is|are|lies?|stands?|hangs?|sits?)|\'s)(?: now| back| again| still)? (?:{_WHERE}|here|there)\b'
    rf'|\b(?:put|left|moved|brought|carried|placed|took)\b.* {_WHERE}\b'
)
"""What a note says that tells where a thing is, and not that it is dirty, or closed on Mondays."""


def as_told_since(claim: Claim, request: Request, scope: Scope, question: Question, recall: Recall) -> Claim:
    """Return a claim of where a thing is, or what a note or a look on arrival says that is newer.

    :param scope: of the question
    """
    if claim.kind is not Kind.POSITION or not request.phrase or not claim.evidence:
        return claim
    seen = choose(claim.evidence, claim.choice, question).memory
    since = scope.within(seen.end_ns + 1, None)
    if since is None or (told := _told(request, seen, recall, since)) is None:
        return claim
    when, quoted = ago(told.end_ns, question.now_ns), told.caption.rstrip('.')
    away = word_class('gone') - ({'moved'} if told.pose is not None else set())  # to there
    gone = told.source == AGENT or not away.isdisjoint(words(told.caption))
    if told.source == AGENT:
        quoted = f'{quoted[:1].lower()}{quoted[1:]}'
    by = f'I {quoted}, {when}' if told.source == AGENT else f'a person noted "{quoted}" {when}'
    if not gone and told.pose is not None:
        text = f'{by[:1].upper()}{by[1:]}'
        return replace(claim, text=text, evidence=[Hit(told, 1.0)], confidence=SURE)
    text = f'It is not there any more: {by}.' if gone else f'I know no place, but {by}.'
    return Claim(Kind.TEXT, text, [Hit(told, 1.0)], confidence=SURE, about=f'{claim.about} {request.phrase}')


def _told(request: Request, seen: Memory, recall: Recall, since: Scope) -> Memory | None:
    """Return the newest note about a thing, or look that did not find it; None: there is none."""
    found = []
    for source in (PERSON, AGENT):
        of_source = replace(since, source=source)
        query = Query(request.phrase, scope=of_source, limit=POOL)
        for hit in recall.find(query) if recall.count(of_source) else ():
            memory, facts = hit.memory, facts_of(hit.memory)
            if facts is None:
                says = _PLACED.search(memory.caption) or word_class('gone').intersection(
                    words(memory.caption)
                )
                told = source == PERSON and bool(says) and is_named(request.phrase, memory.caption)
            else:
                named = is_named(request.phrase, facts.object)
                same = facts.object_id == seen.id if facts.object_id else named
                told = facts.kind == LOOK and facts.outcome == 'failed' and same
            found += [memory] if told and memory.end_ns > seen.end_ns else []
    return max(found, key=lambda memory: memory.end_ns, default=None)
