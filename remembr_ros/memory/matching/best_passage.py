"""Which sentence or sign of a memory has what a text asks for."""

from remembr_ros.memory.matching.bm25 import shares_among
from remembr_ros.memory.matching.sentences import passages
from remembr_ros.memory.matching.terms import essence, identifiers
from remembr_ros.memory.model.record import Memory

MOST_ASKED = 1_000  # characters of a text that count: of more each memory would take 10 ms


def best_passage(text: str, memory: Memory) -> str | None:
    """Return the sentence or text of a memory that has most of a text's words; the shortest of several.

    By words alone, numbers and names first. A memory may fit by meaning and share no word: of that nothing
    can be told without the vectors.

    :return: None: none has any
    """
    text = text[:MOST_ASKED]
    parts = [part.text for part in passages(memory) if part.is_sentence]
    if not parts:
        return None
    named = [identifier.pattern for identifier in identifiers(text)]
    exact = [sum(bool(pattern.search(part)) for pattern in named) for part in parts]
    shares = shares_among(essence(text), parts)
    best = max(range(len(parts)), key=lambda i: (exact[i], float(shares[i]), -len(parts[i])))
    return parts[best] if exact[best] or shares[best] > 0.0 else None
