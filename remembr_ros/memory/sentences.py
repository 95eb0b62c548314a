"""A caption's parts: what one vector per caption would average away."""

import re

from remembr_ros.memory.record import Memory

MAX_SENTENCES = 48
"""Vectors kept per memory; a VLM's caption of 3 s has 5 to 20 sentences."""

_END = re.compile(r'(?<=[.!?])\s+|(?<=[.!?]["\')\]])\s+|\n+')


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text without white space around them, none of them empty."""
    return [part.strip() for part in _END.split(text) if part and part.strip()]


def passages(memory: Memory) -> list[str]:
    """Return the texts whose vectors stand for a memory: caption, its sentences, each text in the scene."""
    sentences = split_sentences(memory.caption)
    texts = [memory.caption, *(sentences if len(sentences) > 1 else ()), *memory.scene_text]
    unique = dict.fromkeys(text.strip() for text in texts if text.strip())
    return list(unique)[:MAX_SENTENCES]
