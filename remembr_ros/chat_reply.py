"""What a reply of a chat API says: its parts joined, without thoughts, and whether it was cut off."""

import re
from dataclasses import dataclass
from typing import Any

from remembr_ros.errors import ReplyInvalid

CUT_OFF = ('length', 'max_tokens')
"""The finish reasons of a reply that reached a limit of tokens."""

_THOUGHTS = ('think', 'thinking', 'thought', 'reasoning', 'analysis')
_TAG = rf'(?:\w{{1,20}}:)?(?:{"|".join(_THOUGHTS)})'
_MARK = re.compile(
    rf'(?P<begin><{_TAG}>|\[THINK\]|\u25c1think\u25b7|<\|START_THINKING\|>'
    r'|<\|channel\|>analysis<\|message\|>|<\|channel>thought\b|<unused94>thought\b)'
    rf'|(?P<end></{_TAG}>|\[/THINK\]|\u25c1/think\u25b7|<\|END_THINKING\|>|<channel\|>|<unused95>)'
    # Of any other message, too: it ends a thought only where one has begun.
    r'|<\|end\|>',
    re.IGNORECASE,
)
_BARE_HARMONY = re.compile(r'^analysis.*?assistant(?:final|(?=commentary))', re.DOTALL)
"""Harmony's channels as they are left when a server drops its special tokens."""

_CHANNEL = re.compile(r'(?:<\|start\|>\w*)?<\|channel\|>\w+\s*<\|message\|>')
_BOX = re.compile(
    r'\s*(?:<\|(?P<at>box|quad)_start\|>.*?<\|(?P=at)_end\|>|<(?P<as>box|quad)>.*?</(?P=as)>)',
    re.DOTALL,
)
"""Where in an image a thing is, as models write it that ground their words."""

_TOKEN = re.compile(
    r'<\|[\w./ ]{1,40}\|>|</?(?:s|[be]os|end_of_utterance|(?:start|end)_of_turn|answer|caption|image'
    r'|p|phrase|ref|object|point|loc_?\d+|patch_index_\d+)(?:\s[^<>]{0,200})?/?>'
)
"""Named one by one: a sign, or a screen, may show tags of its own."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says.

    :param message: the API's object, of which any part may be missing or mistyped
    :param text: its content, thoughts in it included
    :param cut_off: it reached a limit of tokens
    :param refusal: why it does not do what was asked; empty: it does
    """

    message: Any
    text: str
    cut_off: bool
    refusal: str


def said_in(response: Any) -> Said:
    """Return what a response says; servers leave out or mistype any part of one.

    :raises ReplyInvalid: it is no chat reply
    """
    try:
        choice = response.choices[0]
        message = choice.message
        content = message.content
    except (AttributeError, IndexError, TypeError, KeyError) as error:
        raise ReplyInvalid('it has no message') from error
    content = [content] if isinstance(content, dict) else content
    if isinstance(content, list):  # thoughts are parts of another type, with parts of their own
        parts = [part.get('text') for part in content if isinstance(part, dict) and not _is_thought(part)]
        content = ''.join(part for part in parts if isinstance(part, str))
    reason = getattr(choice, 'finish_reason', None)
    refusal = getattr(message, 'refusal', None) or ('content filter' if reason == 'content_filter' else '')
    text = sendable(content) if isinstance(content, str) else ''
    return Said(message, text, isinstance(reason, str) and reason.lower() in CUT_OFF, str(refusal))


def sendable(value: Any) -> str:
    """Return a text without half a character, which JSON allows, and which can be sent nowhere."""
    return str(value).encode('utf-8', 'replace').decode()


def without_thoughts(text: str) -> str:
    """Return what a model said after it thought; a thought that does not end takes the rest.

    Templates may begin the thought in the prompt, so that the reply has its end only.
    """
    text = _BARE_HARMONY.sub('', text, count=1)
    kept: list[str] = []
    position, thinking = 0, False
    for mark in _MARK.finditer(text):
        if mark['begin']:
            kept += [] if thinking else [text[position : mark.start()]]
            thinking = True
        elif thinking or mark['end']:
            if not thinking:
                kept.clear()
            position, thinking = mark.end(), False
    return ''.join(kept if thinking else [*kept, text[position:]])


def plain(text: str) -> str:
    """Return what a model said to a person: without thoughts, and without the tokens of its template."""
    return _TOKEN.sub('', _BOX.sub('', _CHANNEL.sub('', without_thoughts(text)))).strip()


def _is_thought(part: dict[str, Any]) -> bool:
    return str(part.get('type', '')).lower() in _THOUGHTS
