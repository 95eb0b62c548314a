"""One question to a language model that has all it will get: it must answer, by reference."""

from dataclasses import replace

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import ChatClient, Message, Reply, ToolCall
from remembr_ros.agent.chat.reply_text import MAX_REPLY, calls_in_text
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.tools import ANSWER, TOOLS, AnswerCall, cited, parse_arguments
from remembr_ros.agent.model.answer import Answer, Cost, Kind, Question
from remembr_ros.agent.model.grounding import Claim, ground, without_invented_numbers
from remembr_ros.agent.model.memory_prompt import with_facts
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.errors import ReplyInvalid, Ungrounded

ANSWER_TOOLS = tuple(tool for tool in TOOLS if tool.name == ANSWER)


def forced_answer(
    chat: ChatClient,
    messages: tuple[Message, ...],
    evidence: Evidence,
    question: Question,
    run: Run,
    *,
    method: str,
    call_timeout_s: float,
    captions_shown: bool = True,
) -> Answer:
    """Return the model's answer; one that cannot be used is sent back once.

    :param messages: what it is told, with the memories of evidence under their labels
    :param method: before the model's name, which may be known only after a call, in the planner's
    :param captions_shown: then a text may have no numbers but theirs; frames may show others
    :raises Ungrounded: it could not support its answer
    :raises ReplyInvalid: its replies could not be used
    :raises Cancelled, BudgetExceeded, ChatUnavailable: see
        :func:`remembr_ros.agent.chat.bounded_call.complete`
    """
    cost = Cost()
    while True:
        run.check()
        run.on_progress(Progress('thinking', chat.model, len(evidence)))
        reply = complete(
            chat, messages, ANSWER_TOOLS, must_call=ANSWER, run=run, call_timeout_s=call_timeout_s
        )
        cost = replace(
            cost,
            llm_calls=cost.llm_calls + 1,
            prompt_tokens=cost.prompt_tokens + reply.prompt_tokens,
            completion_tokens=cost.completion_tokens + reply.completion_tokens,
        )
        name = f'{method}+{chat.model}'
        calls = reply.tool_calls or calls_in_text(reply.content)
        try:
            claim = _claim(calls, evidence, question, captions_shown)
            return with_facts(replace(ground(claim, question, name), cost=cost), question)
        except Ungrounded as error:
            if cost.llm_calls > 1:
                raise Ungrounded(f'{name} could not support its answer: {error}') from error
            complaint = f'error: {error}. Cite memories by their labels, or answer not_seen.'
        except ReplyInvalid as error:
            if cost.llm_calls > 1:
                raise ReplyInvalid(
                    f'{name} sent {cost.llm_calls} replies that could not be used (the last: {error}); '
                    'try a larger model'
                ) from error
            complaint = f'error: {error}. Call `answer`.'
        messages = (*messages, *_sent_back(reply, complaint))


def _claim(
    calls: tuple[ToolCall, ...], evidence: Evidence, question: Question, captions_shown: bool
) -> Claim:
    call = next((call for call in calls if call.name == ANSWER), None)
    if call is None:
        raise ReplyInvalid('that was no answer')
    arguments = parse_arguments(call.name, call.arguments[:MAX_REPLY])
    if not isinstance(arguments, AnswerCall):
        raise ReplyInvalid('that was no answer')
    claim = cited(arguments, evidence)
    if claim.kind is Kind.TEXT and not captions_shown:
        return claim
    return without_invented_numbers(claim, question)


def _sent_back(reply: Reply, complaint: str) -> list[Message]:
    """Return the reply and what is wrong with it, as a conversation goes on."""
    content = reply.content[:MAX_REPLY]
    calls = tuple(replace(call, arguments=call.arguments[:MAX_REPLY]) for call in reply.tool_calls)
    said = Message('assistant', content, calls)
    if not calls:
        return [said, Message('user', complaint)]
    return [said, *(Message('tool', complaint, tool_call_id=call.id) for call in calls)]
