"""The planner with a language model: rounds of recalling, then an answer by reference.

After the querying phase of ReMEmbR (arXiv 2409.13682).
"""

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cache, partial

from remembr_ros.agent.chat.bounded_call import allowed_s
from remembr_ros.agent.chat.client import ChatClient, Message, ToolCall
from remembr_ros.agent.in_parallel import in_parallel
from remembr_ros.agent.llm.answer_call import SMALL_B, AnswerCall, Habit, claim, held_against, is_answer
from remembr_ros.agent.llm.budgeted_dialogue import MAX_FAULTS, BudgetedDialogue, prompt
from remembr_ros.agent.llm.call_context import CallContext, Job, Tell
from remembr_ros.agent.llm.recall_tools import Recalled, introduce, recall_question
from remembr_ros.agent.llm.reply_text import MAX_KEPT, as_kept, calls_of, results_of
from remembr_ros.agent.llm.second_look import SecondLook
from remembr_ros.agent.llm.tools import ANSWER, LOOK_AGAIN, answer_tool, job, parse_arguments, tools_for
from remembr_ros.agent.model.answer import Answer, Question, Turn
from remembr_ros.agent.model.answer_text import with_facts
from remembr_ros.agent.model.grounding import ground
from remembr_ros.agent.model.memory_prompt import situation
from remembr_ros.agent.model.quoting import quoted
from remembr_ros.agent.offline.request import kind_of
from remembr_ros.agent.planner import TOKEN_BUDGET, Planner, Progress, Run
from remembr_ros.chat_reply import without_thoughts
from remembr_ros.errors import InvalidRequest, RemembrError, ReplyInvalid, Ungrounded
from remembr_ros.memory.model.record import AGENT, OBJECT
from remembr_ros.memory.recall_protocol import Recall

logger = logging.getLogger(__name__)

_MOST = {'rounds': 10, 'calls_per_round': 10, 'memories_per_call': 50, 'token_budget': 10_000_000}

CUT_OFF = 'it was cut off at its limit of tokens; --reply-tokens, or the parameter reply_tokens, allows more'
SIZE_S = 2.0  # [s] for asking a server how large its model is
FIRST = 'Recalled for the question as it was asked'


@dataclass(frozen=True)
class LoopPlanner:
    """Asks a language model, which recalls by tools and answers by reference.

    :param rounds: of recalling before it must answer
    :param calls_per_round: tool calls answered per round, at the same time
    :param memories_per_call: shown per recall
    :param call_timeout_s: for one call of the model [s]; 0: most of what the question has left
    :param token_budget: prompt tokens per question, estimated where the server does not count
    :param second_look: None: the model has no look_again
    :param rules: what an answer is held against, and what answers where the model does not; None: nothing
    :param first_recall: the question is recalled as it was asked before the model is; False: it begins
    """

    chat: ChatClient
    _: KW_ONLY
    rounds: int = 3
    calls_per_round: int = 3
    memories_per_call: int = 5
    call_timeout_s: float = 0.0
    token_budget: int = TOKEN_BUDGET
    second_look: SecondLook | None = None
    rules: Planner | None = None
    first_recall: bool = True
    habit: Habit = field(default_factory=Habit, init=False, compare=False)

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            if not 1 <= (value := getattr(self, name)) <= most:
                raise InvalidRequest(f'{name} is {value}; it lies between 1 and {most}')

    @property
    def name(self) -> str:
        return self.chat.model

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        context = CallContext(question, recall, run, self.memories_per_call, self.second_look)
        rules = self.rules
        if rules is None:
            return self._answered(context)
        known = context.known = cache(lambda: rules.answer(question, recall, run))
        timeout_s = min(SIZE_S, allowed_s(self.call_timeout_s, run.remaining_s))
        context.clumsy = self.habit.is_clumsy or self.chat.parameters_b(timeout_s) < SMALL_B
        if context.clumsy and is_answer(known()):
            return known()
        try:
            return self._answered(context)
        except (ReplyInvalid, Ungrounded) as error:
            self.habit.note(stumbled=True)
            logger.warning('%s; the %s planner answers instead', error, rules.name)
            return known()

    def _answered(self, context: CallContext) -> Answer:
        question, run = context.question, context.run
        system = prompt('system').format(rounds=self.rounds, calls_per_round=self.calls_per_round)
        asked = situation(question, context.survey)
        if question.prior is not None:
            asked += f'\n{_before(question.prior, context)}'
        if self.first_recall:
            asked += f'\n\n{FIRST}:\n{self._first(context)}'
        dialogue = BudgetedDialogue(
            self.chat,
            [Message('system', system), Message('user', asked)],
            tools_for(
                look_again=self.second_look is not None,
                objects=context.has(OBJECT),
                deeds=context.has(AGENT),
            ),
            run,
            call_timeout_s=self.call_timeout_s,
            token_budget=self.token_budget,
        )
        context.reserve = dialogue.reserve
        answer = self._conversed(dialogue, context)
        self.habit.note(stumbled=dialogue.faults > 0 or context.insists)
        return answer

    def _conversed(self, dialogue: BudgetedDialogue, context: CallContext) -> Answer:
        """Return the answer that a conversation ends with."""
        question, run = context.question, context.run
        rounds, unread = 0, False
        while True:
            # One round more than allowed, in which it can only answer; faults have their own budget.
            last = rounds >= self.rounds or dialogue.must_answer
            # A model that calls nothing can answer all the same, where a schema guides it.
            guided = last or unread or context.clumsy or dialogue.faults >= MAX_FAULTS
            forced = answer_tool(context.evidence.labels, kind_of(question.text)) if guided else None
            reply = dialogue.complete(forced, len(context.evidence))
            calls, native = calls_of(reply)
            kept = tuple(map(as_kept, calls)) if native else ()
            said = without_thoughts(reply.content)[:MAX_KEPT]
            dialogue.messages.append(Message('assistant', said, kept))
            unread = unread or not calls
            if not calls:
                dialogue.fault(CUT_OFF if reply.cut_off else 'it called no tool')
                dialogue.messages.append(
                    Message('user', 'That was no tool call. Call a recall tool or `answer`.')
                )
                continue
            answers = [call for call in calls if call.name == ANSWER]
            others = [call for call in calls if call.name != ANSWER]
            complaint = 'answer when you have read what the other calls found'
            if answers and (last or not others):
                answer, complaint = self._try_answer(answers[0], context, dialogue)
                if answer is not None:
                    # A second server may have stepped in.
                    by = reply.model or self.name
                    return with_facts(replace(answer, planner=by, cost=run.ledger.usage), question)
            # What says the same again gets no further.
            unread = unread or (bool(others) and all(_said(call) in context.told for call in others))
            results = iter(self._recall(others, context, dialogue, last=last))
            texts = [complaint if call.name == ANSWER else next(results) for call in calls]
            dialogue.messages += results_of(list(zip(calls, texts, strict=True)), native)
            rounds += 1
            if last:
                dialogue.fault('it did not answer when it had to')

    def _first(self, context: CallContext) -> str:
        """Return what the question recalls as it was asked: a model that searches badly has that at least."""
        (outcome,) = in_parallel([partial(_timed, recall_question(context))], context.run)
        call = ToolCall('', 'recall_text', json.dumps({'query': context.question.text}))
        text = self._shown(call, outcome, context)
        context.evidence.first, context.evidence.best = context.evidence.best, None
        return text

    def _recall(
        self, calls: Sequence[ToolCall], context: CallContext, dialogue: BudgetedDialogue, *, last: bool
    ) -> list[str]:
        """Carry out calls at the same time; return what each has found, or what is wrong with it."""
        run = dialogue.run
        texts: dict[int, str] = {}
        jobs = {}
        unusable = ''
        for index, call in enumerate(calls):
            if last:
                texts[index] = 'there are no rounds left; call answer'
            elif index >= self.calls_per_round:
                texts[index] = f'at most {self.calls_per_round} calls per round'
            else:
                try:
                    if (again := (call.name, call.arguments)) in map(_said, calls[:index]):
                        texts[index] = 'the same call as above'
                        continue
                    if again in context.told:
                        texts[index] = context.told[again]
                        continue
                    jobs[index] = partial(_timed, job(parse_arguments(call.name, call.arguments), context))
                except ReplyInvalid as error:
                    texts[index] = f'error: {error}'
                    unusable = str(error)
                except (InvalidRequest, Ungrounded) as error:
                    texts[index] = context.told[again] = f'error: {error}'
        if unusable:
            dialogue.fault(unusable)
        if jobs:
            names = ', '.join(f'{calls[i].name} {calls[i].arguments[:100]}' for i in jobs)
            run.on_progress(Progress('recalling', names, len(context.evidence)))
        for index, outcome in zip(jobs, in_parallel(list(jobs.values()), run), strict=True):
            texts[index] = self._shown(calls[index], outcome, context)
            context.told[_said(calls[index])] = texts[index]
        if jobs:
            run.on_progress(
                Progress('recalling', f'{len(context.evidence)} memories found', len(context.evidence))
            )
        return [texts[index] for index in range(len(calls))]

    def _shown(self, call: ToolCall, outcome: tuple[Tell, float] | RemembrError, context: CallContext) -> str:
        run = context.run
        run.check()  # what ended the question may have ended the call first
        about: dict[str, object] = {'name': call.name, 'arguments': call.arguments}
        if isinstance(outcome, RemembrError):
            run.record('tool', {**about, 'error': str(outcome)})
            if not isinstance(outcome, InvalidRequest) and call.name != LOOK_AGAIN:
                raise outcome  # there is no memory to answer from
            return f'error: {outcome}'
        tell, seconds = outcome
        text = tell()
        run.record('tool', {**about, 'seconds': round(seconds, 4), 'characters': len(text)})
        return text

    def _try_answer(
        self, call: ToolCall, context: CallContext, dialogue: BudgetedDialogue
    ) -> tuple[Answer | None, str]:
        """Return the grounded answer, or what is wrong with it.

        :raises Ungrounded: it was sent back before
        :raises ReplyInvalid: too many replies were unusable
        """
        dialogue.run.on_progress(Progress('answering', self.name, len(context.evidence)))
        try:
            arguments = parse_arguments(call.name, call.arguments)
            if not isinstance(arguments, AnswerCall):
                raise ReplyInvalid('this is no answer')
            answer = ground(claim(arguments, context), context.question, self.name)
            if context.known is not None:
                stumbled = bool(dialogue.faults) or context.clumsy
                known = context.known()
                answer = held_against(known, answer, context, again=dialogue.refused, stumbled=stumbled)
        except ReplyInvalid as error:
            dialogue.fault(str(error))
            return None, f'error: {error}'
        except Ungrounded as error:
            if dialogue.refused:
                raise Ungrounded(f'{self.name} could not support its answer: {error}') from error
            dialogue.refused = True
            dialogue.run.record('refused', {'reason': str(error)})
            label = next(iter(context.evidence.labels), 'm1')
            return None, f'error: {error}. What shows it: cite its label: ids ["{label}"]; else not_seen.'
        cites = {name: getattr(arguments, name) for name in ('ids', 'start_id', 'end_id')}
        evidence = [hit.memory.id for hit in answer.evidence]
        dialogue.run.record('answer', {'kind': answer.kind.value, 'cites': cites, 'evidence': evidence})
        return answer, ''


def _said(call: ToolCall) -> tuple[str, str]:
    return call.name, call.arguments


def _timed(job: Job) -> tuple[Tell, float]:
    began = time.monotonic()
    return job(), time.monotonic() - began


def _before(turn: Turn, context: CallContext) -> str:
    """Return what was asked before, for a question that refers to it; its memories get labels."""
    lines = [
        f'Before that, the same person asked {quoted(turn.question)} and was told {quoted(turn.answer.text)}'
    ]
    if turn.answer.evidence:
        lines.append(introduce(Recalled(turn.answer.evidence[:3], len(turn.answer.evidence)), context))
    return '\n'.join(lines)
