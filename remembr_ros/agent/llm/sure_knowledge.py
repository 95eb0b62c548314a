"""What the rules surely know of a question: a model's answer is held against it."""

import math
from dataclasses import dataclass, replace

from remembr_ros.agent.llm.call_context import CallContext
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.model.confidence import WORDS
from remembr_ros.agent.model.grounding import comparable
from remembr_ros.agent.model.quoting import quoted
from remembr_ros.errors import Ungrounded
from remembr_ros.geometry import distance
from remembr_ros.timestamps import NS

SURE = WORDS[0][0]  # of what the rules say, so that an answer that says otherwise has to be looked at again
CLUMSY, TRIED_AGAIN = 2, 20  # questions
MEASURED = frozenset((Kind.POSITION, Kind.TIME, Kind.DURATION))
"""One of these in place of another is another answer."""

APART_S = 60.0  # between times, and between durations, of which one is another answer


@dataclass
class Habit:
    """Whether a model has used its tools of late.

    :param stumbled: questions in a row in which it could not, or was overruled
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
    return known.kind is not Kind.NOT_SEEN or known.confidence >= SURE


def held_against(
    known: Answer, answer: Answer, context: CallContext, *, again: bool, stumbled: bool
) -> Answer:
    """Return an answer that goes with what the rules know of the question, or that was given twice.

    :param known: the rules' answer
    :param again: one was sent back before
    :param stumbled: the model could not use its tools: where the rules have an answer, it is taken
    :raises Ungrounded: it does not; the message names what shows it
    """
    sure = known.confidence >= SURE
    if stumbled and is_answer(known) and not _same(known, answer, context):
        raise Ungrounded('it could not use its tools, and says what the rules do not')
    if known.kind is Kind.NOT_SEEN:
        # Nobody can tell, or nothing surely shows it: a model that found nothing knows no better.
        if _denies(answer) and not answer.evidence and known.confidence < answer.confidence:
            return replace(
                answer, kind=Kind.NOT_SEEN, binary=None, text=known.text, confidence=known.confidence
            )
        return answer
    found_nothing = _denies(answer) and not answer.evidence
    looked = context.recalls > 1  # besides the first recall, which is not its own
    if not known.evidence or _denies(known) or not (sure or (found_nothing and not looked)):
        return answer
    if _same(known, answer, context) or (again and not found_nothing):
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
