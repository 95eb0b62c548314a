"""The paragraphs and sentences of a caption, each with a vector of its own."""

import re
from typing import NamedTuple

from remembr_ros.memory.model.record import Memory

# Vectors kept per memory; a VLM's caption of 3 s has 5 to 20 sentences in 1 to 8 paragraphs.
MAX_SENTENCES = 48
MIN_PARAGRAPH = 4  # words; a line with fewer is a heading beside others that are longer

_END = re.compile(r'(?<=[.!?])\s+|(?<=[.!?]["\')\]])\s+|\n+')
_MARK = re.compile(r'^\s*(?:#{1,6}\s+|[-*•]\s+|\d{1,2}[.)]\s+)+')
_EMPHASIS = re.compile(r'\*\*|__|`')
_LETTER = re.compile(r'[^\W_]')

_PICTURE = r'(?:video|image|scene|picture|photo|photograph|panorama|footage|frame|view|sequence|clip)s?'
_SEES = r'(?:you|we|i|one)\s+(?:(?:can|may|might|could)\s+)?(?:also\s+)?(?:see|observe|notice|view)\b'
_THERE_IS = r'there\s+(?:is|are)\b'
_SHOWS = r'(?:depict|show|showcase|feature|capture|display|present|portray|illustrate|reveal|include)s?\b'
_PREAMBLE = re.compile(
    rf'^(?:(?:in|throughout|from)\s+(?:the|this|these)\s+(?:\w+\s+)?{_PICTURE}\b,?\s*(?:{_SEES}|{_THERE_IS})?'
    rf'|(?:the|this|these)\s+(?:\w+\s+)?{_PICTURE}\s+(?:also\s+)?{_SHOWS}'
    rf'|{_SEES}|{_THERE_IS})[\s,:]*',
    re.IGNORECASE,
)


class Passage(NamedTuple):
    """A text whose vector stands for a memory.

    :param is_sentence: it says one thing: a sentence, or what could be read
    :param is_paragraph: it says all of one thing; one sentence may be all
    """

    text: str
    is_sentence: bool
    is_paragraph: bool


def paragraphs_among(memory: Memory, count: int) -> int:
    """Return how many of a memory's passages, the first ones, say all of one thing.

    :param count: of its passages; where a version that split captions in another way made them, all of them
    """
    parts = passages(memory)
    return sum(part.is_paragraph for part in parts) if len(parts) == count else count


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text without white space around them, none of them empty."""
    return [part.strip() for part in _END.split(text) if part and part.strip()]


def passages(memory: Memory) -> list[Passage]:
    """Return what stands for a memory: its caption's paragraphs, their sentences, each text in the scene.

    Without markdown, and without 'In the video, you see', which makes all captions alike and tells them from
    what is asked. Paragraphs come first. A text is there once, whatever it is.
    """
    paragraphs = [text for line in memory.caption.splitlines() if _LETTER.search(text := _plain(line))]
    sentences = [s for paragraph in paragraphs for s in split_sentences(paragraph) if _LETTER.search(s)]
    read = [text.strip() for text in memory.scene_text if text.strip()]
    if not paragraphs and memory.caption.strip():
        read.append(memory.caption.strip())
    paragraphs = [p for p in paragraphs if len(p.split()) >= MIN_PARAGRAPH] or paragraphs
    whole, single = dict.fromkeys(map(_bare, paragraphs)), dict.fromkeys(map(_bare, sentences))
    texts = list(dict.fromkeys((*whole, *read, *single)))[:MAX_SENTENCES]
    return [Passage(t, t in single or t in read, t in whole or t in read) for t in texts]


def _plain(line: str) -> str:
    """Return a line without markdown."""
    return _EMPHASIS.sub('', _MARK.sub('', line)).strip()


def _bare(text: str) -> str:
    """Return a text without its preamble, unless little is left."""
    rest = _PREAMBLE.sub('', text, count=1)
    return rest if len(rest.split()) > 1 else text
