"""A language model as judge: does a free-text answer say what the reference says, and how nearly?"""

import hashlib
import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

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


class Mark(BaseModel):
    """What is given for an answer that may be right in part: 5 as the reference, 1 nothing of it."""

    mark: int = Field(ge=1, le=5)
    reason: str = ''


_Form = TypeVar('_Form', Judgement, Mark)
_PROMPTS: dict[type[BaseModel], str] = {Judgement: 'judge', Mark: 'llm_match'}
_WANTED: dict[type[BaseModel], str] = {Judgement: '"correct": true or false', Mark: '"mark": 1 to 5'}


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
        judgement, reason = self._of(
            Judgement, {'question': question, 'reference': reference, 'answer': answer}
        )
        return (judgement.correct, judgement.reason) if judgement else (None, reason)

    def mark(
        self, question: str, reference: str, answer: str, also_right: Sequence[str] = ()
    ) -> tuple[int | None, str]:
        """Mark an answer from 1 to 5, as LLM-Match of OpenEQA (CVPR 2024, section 4) does.

        :param also_right: further references
        :return: None: there is no mark; and why
        """
        texts: dict[str, Any] = {'question': question, 'reference': reference, 'answer': answer}
        mark, reason = self._of(Mark, texts | ({'also_right': [*also_right]} if also_right else {}))
        return (mark.mark, mark.reason) if mark else (None, reason)

    def _of(self, form: type[_Form], texts: dict[str, Any]) -> tuple[_Form | None, str]:
        """Return what was kept, or what the model says now; or why it says nothing."""
        if self._cache is not None:
            with suppress(OSError, ValueError):
                return form.model_validate_json(self._file(form, texts).read_bytes()), ''
        judgement, reason = self._ask(form, texts)
        if self._cache is not None and judgement is not None:
            kept = {'model': self._chat.model, **texts, **judgement.model_dump()}
            try:
                self._cache.mkdir(parents=True, exist_ok=True)
                # The name again: a model that was not named is known by name after the first call.
                replace_file(
                    self._file(form, texts), json.dumps(kept, ensure_ascii=False).encode('utf-8', 'replace')
                )
            except OSError as error:
                logger.warning('the verdict is not kept: %s', error)
        return judgement, reason

    def _ask(self, form: type[_Form], texts: dict[str, Any]) -> tuple[_Form | None, str]:
        # JSON: no text can end before its quotation mark. Lone surrogates cannot be sent.
        asked = json.dumps(texts, ensure_ascii=False, indent=1).encode('utf-8', 'replace').decode()
        messages = [Message('system', _prompt(_PROMPTS[form])), Message('user', asked)]
        reason = ''
        for replies in range(1, ATTEMPTS + 1):
            try:
                reply = self._chat.complete(Call(messages, timeout_s=self._timeout_s))
            except RemembrError as error:
                return None, f'{error.kind}: {error}'
            try:
                return _read(form, reply.content), ''
            except ReplyInvalid as error:
                reason = f'{self._chat.model} gave no verdict in {replies} replies: {error}'
                complaint = f'{error}. Reply with {{{_WANTED[form]}, "reason": "..."}} only.'
                messages += [Message('assistant', reply.content[:MAX_REPLY]), Message('user', complaint)]
        return None, reason

    def _file(self, form: type[_Form], texts: dict[str, Any]) -> Path:
        whole = json.dumps([self._chat.model, _prompt(_PROMPTS[form]), *texts.values()])
        return (self._cache or Path()) / f'{hashlib.sha256(whole.encode()).hexdigest()}.json'


def _read(form: type[_Form], content: str) -> _Form:
    """Return the one verdict in a reply.

    :raises ReplyInvalid: there is none, or there are several that differ
    """
    found = []
    for data, _, _ in objects_in(content[:MAX_REPLY]):
        with suppress(ValidationError):
            found.append(form.model_validate(data))
    if not found:
        raise ReplyInvalid(f'that was no JSON object with {_WANTED[form]}')
    if len({judgement.model_dump_json(exclude={'reason'}) for judgement in found}) > 1:
        raise ReplyInvalid(f'that says several of {_WANTED[form]}')
    return found[-1].model_copy(update={'reason': found[-1].reason[:MAX_REASON]})


@cache
def _prompt(name: str) -> str:
    return (files('remembr_bench.evaluation') / 'prompts' / f'{name}.md').read_text(encoding='utf-8')
