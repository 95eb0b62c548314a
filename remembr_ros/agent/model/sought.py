"""What is looked for in memories, as a question or a search asks for it."""

from dataclasses import dataclass

from remembr_ros.agent.model.answer import Kind
from remembr_ros.memory.matching.terms import stem


@dataclass(frozen=True, slots=True)
class Sought:
    """What memories are compared with: a thing, and what is asked about it.

    :param kind: what the answer shall consist of
    :param target: what is asked about, in the asker's words; empty: whatever was there
    :param phrase: the words in it that say what it is, without what is said of it
    :param deed: stem of the verb that says what somebody did with it; mostly empty
    :param identifiers: stems that evidence must have: of quoted text
    :param numbered: pairs of a number and the stem of what has it, as in 'lab 3'; empty where it is not said
    :param names: stems of capitalised words, of which evidence must have half
    :param reading: the question is about what is written
    :param counting: the question is about how many there are
    :param visits: how many there are means how many times
    :param said: all words of the question but those of its anchors and those that only ask for a sight
    """

    kind: Kind
    target: str
    phrase: str
    deed: str
    identifiers: frozenset[str]
    numbered: frozenset[tuple[str, str]]
    names: frozenset[str]
    reading: bool
    counting: bool
    visits: bool
    said: tuple[str, ...]

    @property
    def head(self) -> str:
        """The stem of the noun that says what it is; empty: there is none."""
        return stem(self.phrase.split()[-1]) if self.phrase else ''
