"""A language model that judges whether an answer in words says what the reference says."""

import hashlib
import json
import logging
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ValidationError

from remembr_ros.agent.chat.client import Call, ChatClient, Message
from remembr_ros.agent.chat.loose_json import objects_in
from remembr_ros.agent.llm.reply_text import MAX_REPLY
from remembr_ros.agent.model.usage import Ledger, Usage
from remembr_ros.errors import InvalidRequest, RemembrError, ReplyInvalid
from remembr_ros.evaluation.metrics.verdict_cache import VerdictCache

logger = logging.getLogger(__name__)

ATTEMPTS = 2
"""Replies read for one verdict: the second one after the first was sent back."""

MAX_REASON = 500
"""Characters of a reason that are kept."""


class Judgement(BaseModel):
    """What the model replies; anything else in its object is passed over."""

    correct: bool
    reason: str = ''


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge said.

    :param correct: None: there is no verdict, see reason
    :param cached: said before, of the very same texts by the same model; it costs nothing
    """

    correct: bool | None
    reason: str
    cached: bool = False
    usage: Usage = field(default_factory=Usage)


class Judge:
    """Judges answers; safe to share between threads.

    :param chat: the model that judges; better none of those that are judged
    :param cache: file of verdicts, made when there is a first one; None: nothing is kept
    :param timeout_s: for one call of the model [s]
    :raises InvalidRequest: the cache cannot be read, or the time makes no sense
    """

    def __init__(self, chat: ChatClient, cache: Path | None = None, *, timeout_s: float = 60.0) -> None:
        if not timeout_s > 0.0:
            raise InvalidRequest(f'timeout_s is {timeout_s}; it is positive')
        self._chat = chat
        self._cache = VerdictCache(cache) if cache is not None else None
        self._timeout_s = timeout_s

    @property
    def model(self) -> str:
        return self._chat.model

    def verdict(self, question: str, reference: str, answer: str) -> Verdict:
        """Judge an answer; whatever the model or its server does, this raises nothing.

        Only a verdict is kept: without one, the next time asks again.
        """
        texts = {'question': question, 'reference': reference, 'answer': answer}
        if self._cache is not None:
            known = self._cache.get(self._key(texts))
            if known is not None:
                return Verdict(known.correct, known.reason, cached=True)
        found = self._ask(texts)
        if self._cache is not None and found.correct is not None:
            # The key again: a model that was not named is known by name after the first call.
            entry = {'model': self.model, **texts, 'correct': found.correct, 'reason': found.reason}
            try:
                self._cache.put(self._key(texts), entry)
            except OSError as error:
                logger.warning('the verdict is not kept: %s', error)
        return found

    def _ask(self, texts: dict[str, str]) -> Verdict:
        messages = [
            Message('system', _prompt()),
            # JSON: no text can end before its quotation mark. Lone surrogates cannot be sent.
            Message(
                'user', json.dumps(texts, ensure_ascii=False, indent=1).encode('utf-8', 'replace').decode()
            ),
        ]
        ledger, replies = Ledger(), 0
        correct: bool | None = None
        reason = ''
        while correct is None and replies < ATTEMPTS:
            try:
                reply = self._chat.complete(Call(messages, timeout_s=self._timeout_s, ledger=ledger))
            except RemembrError as error:
                reason = f'{error.kind}: {error}'
                break
            replies += 1
            try:
                judgement = _read(reply.content)
                correct, reason = judgement.correct, judgement.reason[:MAX_REASON]
            except ReplyInvalid as error:
                reason = f'{self.model} gave no verdict in {replies} replies: {error}'
                messages += [
                    Message('assistant', reply.content[:MAX_REPLY]),
                    Message(
                        'user', f'{error}. Reply with {{"correct": true or false, "reason": "..."}} only.'
                    ),
                ]
        return Verdict(correct, reason, usage=ledger.usage)

    def _key(self, texts: dict[str, str]) -> str:
        whole = json.dumps([self.model, _prompt(), texts['question'], texts['reference'], texts['answer']])
        return hashlib.sha256(whole.encode()).hexdigest()


def _read(content: str) -> Judgement:
    """Return the one verdict in a reply.

    :raises ReplyInvalid: there is none, or there are several that differ
    """
    found = []
    for data, _, _ in objects_in(content[:MAX_REPLY]):
        try:
            found.append(Judgement.model_validate(data))
        except ValidationError:
            continue
    if not found:
        raise ReplyInvalid('that was no JSON object with "correct": true or false')
    if len({judgement.correct for judgement in found}) > 1:
        raise ReplyInvalid('that says both correct and not correct')
    return found[-1]


@cache
def _prompt() -> str:
    return (files('remembr_ros.evaluation') / 'prompts' / 'judge.md').read_text(encoding='utf-8')
