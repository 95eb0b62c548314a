"""Checks whether a model's output is a caption, and not empty or repeated text."""

import logging
import re
from collections.abc import Callable

from remembr_ros.chat_reply import plain, sendable
from remembr_ros.errors import CaptionerFailed

_log = logging.getLogger(__name__)
MIN_WORDS = 4  # what is left of a loop and has fewer is no caption
MAX_CHARACTERS = 10_000  # no caption is longer; a model that writes more is cut here
LONG_PHRASE = 8  # words from which on a phrase is said three times by a loop only
MAX_PHRASE = 120  # words of the longest one that is looked for; sentences that come back in turn are one
LETTERS = 60  # so many characters of a repeated piece of text without spaces are a loop
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_PIECE = re.compile(r'(\S{1,20}?)\1{5,}')
_SENTENCE_END = re.compile(r'[.!?]["\u201d\u2019\')]*(?=\s|$)|[\u3002\uff01\uff1f]')


def checked(describe: Callable[[bool], str], model: str) -> str:
    """Return what a model says of a segment, asked a second time where its first caption is of no use.

    :param describe: asks the model; True: in another way than before, or it says the same
    :param model: its name, for messages
    :raises CaptionerFailed: both times it wrote nothing, or nothing but repetitions
    """
    first = describe(False)
    if (fault := fault_of(first)) is None:
        return whole(first)
    _log.info('%s wrote a caption that is %s; it is asked again', model, fault)
    return settled(describe(True), first, model)


def settled(second: str, first: str, model: str) -> str:
    """Return the caption that two tries leave: the second one, or what one of them says before its loop.

    :raises CaptionerFailed: neither says anything
    """
    if fault_of(second) is None:
        return whole(second)
    for text in (second, first):
        if kept := before_loop(whole(text)):
            _log.info('the caption of %s is cut where it begins to repeat itself', model)
            return kept
    fault = fault_of(second)
    raise CaptionerFailed(
        f'{model} wrote a caption that is {fault}, twice: {whole(second)[:80]!r}; is it a model that sees '
        'images, and does it keep to the prompt?'
    )


def whole(text: str) -> str:
    """Return a model's text without thoughts and a template's tokens, and fit to be sent in a message."""
    return plain(sendable(text).replace('\0', ''))[:MAX_CHARACTERS]


def fault_of(text: str) -> str | None:
    """Return what is wrong with a model's text: 'empty', 'looping' or nothing."""
    text = whole(text)
    if not any(character.isalnum() for character in text):
        return 'empty'
    return 'looping' if find_loop(text) is not None else None


def before_loop(text: str) -> str:
    """Return the text up to where it begins to repeat itself; empty if there is no caption in that."""
    while (found := find_loop(text)) is not None:  # what is said again may end in a loop of its own
        text = text[: found[1]]
        text = whole_sentences(text) or text.strip()
    return text if len(_WORD.findall(text)) >= MIN_WORDS else ''


def whole_sentences(text: str) -> str:
    """Return a text that was cut off up to the end of its last whole sentence; empty if there is none."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    return text[: ends[-1]] if ends else ''


def find_loop(text: str) -> tuple[int, int] | None:
    """Return where a loop begins, and where it says for the second time what it said; None: there is none.

    A loop is a word, a phrase, sentences or a piece of text without spaces that comes again right after
    itself, more often than people write it. Case and punctuation between words do not count.
    """
    loops = [loop for loop in (_word_loop(text), _piece_loop(text)) if loop is not None]
    return min(loops, default=None)


def _word_loop(text: str) -> tuple[int, int] | None:
    found = list(_WORD.finditer(text))
    words = [match[0].casefold() for match in found]
    best: tuple[int, int] | None = None
    for length in range(1, min(MAX_PHRASE, len(words) // 2) + 1):
        # So often a phrase has to be said in a row to be a loop.
        times = 6 if length == 1 else 4 if length < LONG_PHRASE else 3
        needed = (times - 1) * length
        run = 0
        for i in range(length, len(words)):
            run = run + 1 if words[i] == words[i - length] else 0
            if run >= needed:
                again = i - run + 1
                if best is None or again - length < best[0]:
                    best = (again - length, again)
                break
    return (found[best[0]].start(), found[best[1]].start()) if best else None


def _piece_loop(text: str) -> tuple[int, int] | None:
    for match in _PIECE.finditer(text):
        if match.end() - match.start() >= LETTERS:
            return match.start(), match.start() + len(match[1])
    return None
