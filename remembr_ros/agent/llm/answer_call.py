"""What a model answers: what it claims, how likely that is, and how it holds against what the rules know."""

import math
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from remembr_ros.agent.llm.arguments import UNTOLD, Arguments, Labels, as_one_of
from remembr_ros.agent.llm.call_context import CallContext
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.model.confidence import WORDS, cited_confidence
from remembr_ros.agent.model.grounding import Choice, Claim, comparable, without_invented_numbers
from remembr_ros.agent.model.matching import has_what_it_must
from remembr_ros.agent.model.quoting import quoted, without_labels
from remembr_ros.agent.model.relevance_model import AS_GOOD, SURE, as_unsure
from remembr_ros.errors import Ungrounded
from remembr_ros.geometry import distance
from remembr_ros.timestamps import NS

KNOWN = WORDS[0][0]  # of what the rules say, so that an answer that says otherwise has to be looked at again
CLUMSY, TRIED_AGAIN = 2, 20  # questions
MEASURED = frozenset((Kind.POSITION, Kind.TIME, Kind.DURATION))
"""One of these in place of another is another answer."""

SMALL_B = 3.0  # Billions of parameters of a model below which it is not asked what the rules know
APART_S = 60.0  # between times, and between durations, of which one is another answer

_KINDS = as_one_of(
    {
        **dict.fromkeys(('where', 'place', 'location', 'pose'), 'position'),
        **dict.fromkeys(('when', 'timestamp', 'datetime', 'date'), 'time'),
        **dict.fromkeys(('yes_no', 'yes_or_no', 'boolean', 'bool'), 'binary'),
        **dict.fromkeys(('notseen', 'unseen', 'not_found'), 'not_seen'),
        'how_long': 'duration',
        'string': 'text',
    }
)
_CHOICES = as_one_of(
    {
        'closest': 'nearest',
        'furthest': 'farthest',
        **dict.fromkeys(('last', 'last_seen', 'newest', 'most_recent'), 'latest'),
        **dict.fromkeys(('first_seen', 'oldest'), 'earliest'),
        **dict.fromkeys(('most_frequent', 'most_common'), 'most_often'),
        **dict.fromkeys(('all', 'each'), 'every'),
        **dict.fromkeys(('as_cited', 'ordered', 'in_sequence'), 'in_order'),
    }
)


class AnswerCall(Arguments):
    """This ends it."""

    model_config = ConfigDict(json_schema_extra={'required': ['kind', 'ids']})  # asked for

    kind: Annotated[Kind, BeforeValidator(_KINDS)]
    text: str = Field('', max_length=4_000)
    binary: bool | None = None
    ids: Labels = Field(default_factory=list, max_length=50)
    choice: Annotated[Choice, BeforeValidator(_CHOICES)] = Choice.CITED_FIRST
    likely: bool = False
    start_id: str | None = Field(None, json_schema_extra=UNTOLD)
    end_id: str | None = Field(None, json_schema_extra=UNTOLD)


def is_kind(word: Any) -> bool:
    """Tell whether a model may mean a kind of answer."""
    return isinstance(word, str) and _KINDS(word) in {kind.value for kind in Kind}


def cited(arguments: AnswerCall, evidence: Evidence) -> Claim:
    """Return what an answer claims, with its citations looked up.

    :raises Ungrounded: it cites a memory that was never recalled
    """
    hits = evidence.cite_all(arguments.ids)
    if arguments.choice in (Choice.EARLIEST, Choice.LATEST):
        hits = evidence.with_neighbours(hits)
    start = evidence.cite(arguments.start_id) if arguments.start_id else None
    end = evidence.cite(arguments.end_id) if arguments.end_id else None
    if arguments.kind is Kind.DURATION and hits:
        # Many models cite what it lasted through, and leave it at that.
        start = start or min(hits, key=lambda hit: hit.memory.start_ns)
        end = end or max(hits, key=lambda hit: hit.memory.end_ns)
    return Claim(
        arguments.kind, arguments.text, hits, arguments.binary, arguments.choice, start=start, end=end
    )


def claim(arguments: AnswerCall, context: CallContext) -> Claim:
    """Return what an answer claims, with its citations looked up and without numbers of the model's own.

    :raises Ungrounded: it cites a memory that was never recalled
    :raises Ungrounded: it says no or not seen, and nothing was recalled to say so
    """
    evidence, searched = context.evidence, context.searched
    spoken = without_labels(arguments.text)
    claimed = cited(arguments.model_copy(update={'text': spoken}), evidence)
    if claimed.start and claimed.end:
        ends = evidence.label(claimed.start), evidence.label(claimed.end)
        claimed = replace(claimed, duration_s=evidence.lasted.get(ends))
    if claimed.kind is Kind.NOT_SEEN and not context.recalls:
        raise Ungrounded('nothing was looked for yet; recall first')
    if claimed.kind is Kind.BINARY and claimed.binary is False:
        if not (any(total for _, total in searched) or claimed.evidence):
            raise Ungrounded('nothing was recalled that could tell "no" from "not seen"; recall first')
        narrowed = [total for narrowed, total in searched if narrowed]
        if narrowed and not any(narrowed):
            raise Ungrounded('nothing is remembered of that time and place: that is not_seen, not no')
    claimed = _of_the_best(confident(claimed, context), context)
    claimed = without_invented_numbers(claimed, context.question, evidence.told)
    if arguments.likely and claimed.kind is Kind.POSITION:
        text = f'{claimed.text or "There"} (most likely, not named)'
        claimed = replace(claimed, text=text, confidence=as_unsure(claimed.confidence))
    return claimed


def _of_the_best(claimed: Claim, context: CallContext) -> Claim:
    """Return a claim, of the nearest or farthest without memories that fit clearly worse than another."""
    if claimed.choice not in (Choice.NEAREST, Choice.FARTHEST):
        return claimed
    asked, evidence = context.question.text, context.evidence
    # Of what no recall by text found nobody knows how well it fits; what has no place is never the nearest.
    known = [hit for hit in claimed.evidence if hit.memory.id in evidence.scores and hit.memory.pose]
    likely = {
        hit.memory.id: cited_confidence(asked, [hit], context.recall.embedder_name)
        for hit in evidence.scored(known)
    }
    least = min(max(likely.values(), default=0.0) - AS_GOOD, SURE)
    return replace(claimed, evidence=[h for h in claimed.evidence if likely.get(h.memory.id, 1.0) >= least])


def confident(claimed: Claim, context: CallContext) -> Claim:
    """Return a claim with how likely its memories show what was asked, or, if it says no, none does."""
    evidence, asked = context.evidence, context.question.text
    absent = claimed.kind is Kind.NOT_SEEN or (claimed.kind is Kind.BINARY and not claimed.binary)
    shown = [*claimed.evidence, *(hit for hit in (claimed.start, claimed.end) if hit is not None)]
    if absent:
        shown = [best] if (best := evidence.best or evidence.first) is not None else []
    likely = cited_confidence(asked, evidence.scored(shown), context.recall.embedder_name)
    if shown and evidence.best is None:
        likely = max(likely, context.sure)
    if absent:
        likely = 1.0 - likely if context.recalls else 0.0
    elif context.asked.numbered and not any(has_what_it_must(context.asked, hit.memory) for hit in shown):
        likely = as_unsure(likely)  # room 121 is not there because there is a room 120
    return replace(claimed, confidence=likely)


@dataclass
class Habit:
    """Whether a model has used its tools of late.

    :param stumbled: questions in a row in which it could not, was overruled, or insisted on what the rules
        know better
    """

    stumbled: int = 0

    @property
    def is_clumsy(self) -> bool:
        """Whether it is asked for its answer alone, without tools; now and then it is tried again."""
        return self.stumbled >= CLUMSY and self.stumbled % TRIED_AGAIN != 0

    def note(self, *, stumbled: bool) -> None:
        """Take note of how a question went."""
        self.stumbled = self.stumbled + 1 if stumbled or self.is_clumsy else 0


def is_answer(known: Answer) -> bool:
    """Tell whether the rules have an answer, and not only that they cannot tell."""
    return known.kind is not Kind.NOT_SEEN or known.confidence >= KNOWN


def held_against(
    known: Answer, answer: Answer, context: CallContext, *, again: bool, stumbled: bool
) -> Answer:
    """Return an answer that goes with what the rules know of the question, or that was given twice.

    :param known: the rules' answer
    :param again: one was sent back before
    :param stumbled: the model could not use its tools: where the rules have an answer, it is taken
    :raises Ungrounded: it does not; the message names what shows it
    """
    sure = known.confidence >= KNOWN
    if stumbled and is_answer(known) and not _same(known, answer, context):
        raise Ungrounded('it could not use its tools, and says what the rules do not')
    if stumbled and not is_answer(known):  # nobody is sure of what only such a model has understood
        return replace(answer, confidence=as_unsure(answer.confidence))
    if known.kind is Kind.NOT_SEEN:
        # Nobody can tell, or nothing surely shows it: a model that found nothing knows no better.
        if _denies(answer) and not answer.evidence and known.confidence < answer.confidence:
            return replace(
                answer, kind=Kind.NOT_SEEN, binary=None, text=known.text, confidence=known.confidence
            )
        return answer
    found_nothing = _denies(answer) and not answer.evidence
    looked = context.recalls > 1  # besides the first recall, which is not its own
    if context.asked.counting and not looked and known.evidence and answer.kind is Kind.TEXT:
        raise Ungrounded('a few memories are no count; list_all counts what was seen, happened what was done')
    if not known.evidence or _denies(known) or not (sure or not looked):
        return answer
    if _same(known, answer, context):
        return answer
    if again and not found_nothing:
        context.insists = sure
        return answer
    ((label, *_),) = context.evidence.add([replace(known.evidence[0], score=0.0)])
    raise Ungrounded(f'{label} {"surely" if sure else "perhaps"} shows it: {quoted(known.text[:200])}')


def _denies(answer: Answer) -> bool:
    return answer.kind is Kind.NOT_SEEN or answer.binary is False


def _same(known: Answer, answer: Answer, context: CallContext) -> bool:
    """Tell whether two answers say the same, as far as code can tell."""
    if _denies(answer) or _denies(known):
        return (answer.kind, answer.binary) == (known.kind, known.binary)
    if answer.kind is not known.kind:
        return _share(known, answer) and not {answer.kind, known.kind} <= MEASURED
    if answer.kind is Kind.POSITION:
        apart = math.inf
        if known.pose and answer.pose and comparable(known, answer):
            apart = distance(known.pose.position, answer.pose.position)
        return apart <= context.question.same_place.radius_m or _share(known, answer)
    if answer.kind is Kind.TIME:
        return abs((answer.time_ns or 0) - (known.time_ns or 0)) <= APART_S * NS
    if answer.kind is Kind.DURATION:
        return abs((answer.duration_s or 0.0) - (known.duration_s or 0.0)) <= APART_S
    return answer.kind is Kind.BINARY or _share(known, answer)


def _share(known: Answer, answer: Answer) -> bool:
    """Tell whether two answers rest on a memory in common."""
    return bool({hit.memory.id for hit in known.evidence} & {hit.memory.id for hit in answer.evidence})
