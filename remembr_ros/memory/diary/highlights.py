"""What was special about a time of the day: its most distinctive sentences, and all texts read."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from remembr_ros.memory.matching.ranking import passages
from remembr_ros.memory.matching.terms import STOP_WORDS, is_longer_misreading, new_readings, stem, words
from remembr_ros.memory.model.record import Memory

SAMPLE = 50  # Memories of one time that are looked at, evenly spread: more say the same in the same words
SENTENCES = 400  # Of these, that are compared
MOST_LETTERS = 160  # Of a sentence that is told; longer ones are cut
READ = 100  # Texts of one time, those that were read most often
SHORT = 5.0  # Words that are added to a sentence's, so that none wins by being short

_QUOTED = re.compile(r'["“]([^"“”]*\w[^"“”]*)["”]')

_NOTHING_READ = re.compile(r'no readable text\b', re.IGNORECASE)  # What captioners say that only read


def readable(memory: Memory) -> Sequence[str]:
    """Return the texts in view; a captioner that does not list them quotes them in its sentences."""
    return memory.scene_text or [text.strip(' .,') for text in _QUOTED.findall(memory.caption)]


def texts_read(memories: Iterable[Memory]) -> list[str]:
    """Return what could be read, each text once and as it was read most often, in the order of time."""
    found = Counter(
        text
        for memory in memories
        for text in dict.fromkeys(' '.join(read.split()) for read in readable(memory))
    )
    first = {text: number for number, text in enumerate(found)}
    kept: list[str] = []
    for text in sorted(found, key=lambda text: (-found[text], first[text])):
        if len(kept) == READ:
            break
        if new_readings([text], kept) and not any(is_longer_misreading(text, known) for known in kept):
            kept.append(text)
    return sorted(kept, key=lambda text: first[text])


class Vocabulary:
    """In how many memories each word is, so that what is said of a time can be told from what is always said.

    :param memories: of all times, apart from each other
    """

    def __init__(self, times: Iterable[Sequence[Memory]]) -> None:
        self._in = Counter[str]()
        self._memories = 0
        for memories in times:
            for memory in spread(memories):
                self._in.update(stems_of(memory))
                self._memories += 1

    def telling(self, memories: Sequence[Memory], count: int) -> list[str]:
        """Return the sentences that tell a time from all others, best first: of what is in many of its
        memories and in few others, each says something that those before it do not.

        :param memories: of the time
        """
        sample = spread(memories)
        here = Counter(word for memory in sample for word in stems_of(memory))
        elsewhere = max(self._memories - len(sample), 0) + 1.0
        worth = {
            word: number * math.log1p(number / len(sample) * elsewhere / (self._in[word] - number + 0.5))
            for word, number in here.items()
        }
        sentences = dict.fromkeys(text for memory in sample for text in sentences_of(memory))
        left = {text: frozenset(_stems(text)) for text in islice(sentences, SENTENCES)}
        chosen: list[str] = []
        while left and len(chosen) < count:
            best = max(left, key=lambda text: _worth(left[text], worth))
            known = left.pop(best)
            chosen.append(best)
            # Of a sentence that says half the same again, nothing is told.
            left = {text: rest for text, stems in left.items() if 2 * len(rest := stems - known) > len(stems)}
        return [cut(text) for text in chosen]


def spread(memories: Sequence[Memory]) -> Sequence[Memory]:
    """Return at most SAMPLE of the memories, the first one and others evenly spread."""
    return memories[:: max(1, math.ceil(len(memories) / SAMPLE))]


def stems_of(memory: Memory) -> set[str]:
    """Return the stems of the words in a memory that carry meaning."""
    return {s for text in (memory.caption, *memory.scene_text) for s in _stems(text)}


def sentences_of(memory: Memory) -> list[str]:
    """Return a caption's sentences, but for those that only repeat what could be read."""
    if not memory.is_captioned:
        return []
    read = set(memory.scene_text)
    return [
        part.text
        for part in passages(memory)
        if part.is_sentence
        and part.text not in read
        and not _NOTHING_READ.match(part.text)
        and not (read and _QUOTED.search(part.text))
    ]


def cut(text: str) -> str:
    """Return a sentence of at most MOST_LETTERS, which begins with a capital."""
    text = text[:1].upper() + text[1:]
    return text if len(text) <= MOST_LETTERS else f'{text[: MOST_LETTERS - 1].rsplit(" ", 1)[0]}\u2026'


def _worth(stems: frozenset[str], worth: Mapping[str, float]) -> float:
    return sum(worth.get(word, 0.0) for word in stems) / (len(stems) + SHORT)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text) if word not in STOP_WORDS]
