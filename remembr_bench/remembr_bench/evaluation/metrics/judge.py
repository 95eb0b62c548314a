"""A language model as judge: does a free-text answer say what the reference says?"""

import hashlib
import json
import logging
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path

from pydantic import BaseModel, ValidationError

from remembr_bench.replaced_file import replace_file
from remembr_ros.agent.chat.client import Call, ChatClient, Message
from remembr_ros.agent.chat.loose_json import objects_in
from remembr_ros.agent.llm.reply_text import MAX_REPLY
from remembr_ros.errors import RemembrError, ReplyInvalid

logger = logging.getLogger(__name__)

ATTEMPTS = 2  # replies read for one verdict: the second one after the first was sent back
MAX_REASON = 500  # characters of a reason that are kept


class Judgement(BaseModel):
    """What a judge says; anything else in its object is passed over."""

    correct: bool
    reason: str = ''


class Judge:
    """Judges answers; safe to share between threads.

    :param chat: the model that judges; better none of those that are judged
    :param cache: folder of verdicts, made when there is a first one; None: nothing is kept
    :param timeout_s: for one call of the model [s]
    """

    def __init__(self, chat: ChatClient, cache: Path | None = None, *, timeout_s: float = 60.0) -> None:
        self._chat, self._cache, self._timeout_s = chat, cache, timeout_s

    def verdict(self, question: str, reference: str, answer: str) -> tuple[bool | None, str]:
        """Judge an answer; whatever the model or its server does, this raises nothing.

        Only a verdict is kept: without one, or if what was kept is damaged, the next time asks again.

        :return: whether the answer is right, None: there is no verdict; and why
        """
        texts = {'question': question, 'reference': reference, 'answer': answer}
        if self._cache is not None:
            with suppress(OSError, ValueError):
                known = Judgement.model_validate_json(self._file(texts).read_bytes())
                return known.correct, known.reason
        correct, reason = self._ask(texts)
        if self._cache is not None and correct is not None:
            kept = {'model': self._chat.model, **texts, 'correct': correct, 'reason': reason}
            try:
                self._cache.mkdir(parents=True, exist_ok=True)
                # The name again: a model that was not named is known by name after the first call.
                replace_file(
                    self._file(texts), json.dumps(kept, ensure_ascii=False).encode('utf-8', 'replace')
                )
            except OSError as error:
                logger.warning('the verdict is not kept: %s', error)
        return correct, reason

    def _ask(self, texts: dict[str, str]) -> tuple[bool | None, str]:
        # JSON: no text can end before its quotation mark. Lone surrogates cannot be sent.
        asked = json.dumps(texts, ensure_ascii=False, indent=1).encode('utf-8', 'replace').decode()
        messages = [Message('system', _prompt()), Message('user', asked)]
        reason = ''
        for replies in range(1, ATTEMPTS + 1):
            try:
                reply = self._chat.complete(Call(messages, timeout_s=self._timeout_s))
            except RemembrError as error:
                return None, f'{error.kind}: {error}'
            try:
                judgement = _read(reply.content)
                return judgement.correct, judgement.reason[:MAX_REASON]
            except ReplyInvalid as error:
                reason = f'{self._chat.model} gave no verdict in {replies} replies: {error}'
                complaint = f'{error}. Reply with {{"correct": true or false, "reason": "..."}} only.'
                messages += [Message('assistant', reply.content[:MAX_REPLY]), Message('user', complaint)]
        return None, reason

    def _file(self, texts: dict[str, str]) -> Path:
        whole = json.dumps([self._chat.model, _prompt(), *texts.values()])
        return (self._cache or Path()) / f'{hashlib.sha256(whole.encode()).hexdigest()}.json'


def _read(content: str) -> Judgement:
    """Return the one verdict in a reply.

    :raises ReplyInvalid: there is none, or there are several that differ
    """
    found = []
    for data, _, _ in objects_in(content[:MAX_REPLY]):
        with suppress(ValidationError):
            found.append(Judgement.model_validate(data))
    if not found:
        raise ReplyInvalid('that was no JSON object with "correct": true or false')
    if len({judgement.correct for judgement in found}) > 1:
        raise ReplyInvalid('that says both correct and not correct')
    return found[-1]


@cache
def _prompt() -> str:
    return (files('remembr_bench.evaluation') / 'prompts' / 'judge.md').read_text(encoding='utf-8')
