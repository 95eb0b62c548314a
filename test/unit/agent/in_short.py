"""What an answer says, in a few words, for tables of questions and answers."""

import re

from remembr_ros.agent.model.answer import Answer, Kind


def rows(table: str) -> list[list[str]]:
    """Return the question, the answer in short and what is said of each line: 'Where? | at a | It is'."""
    lines = (re.split(r'\s+\|\s*', line.strip()) for line in table.splitlines() if line.strip())
    return [[*cells, *[''] * (3 - len(cells))] for cells in lines]


def in_short(answer: Answer, most: int = 3) -> str:
    """Return what kind of answer it is, and by which memories: 'at lift', 'when lift', 'each a, b'.

    After "perhaps" it is less sure than 0.5. A place and a time are those of the first memory, "since" that
    is when it began; a text names all memories that it rests on, up to a number.
    """
    ids = [hit.memory.id for hit in answer.evidence]
    few = ', '.join(ids[:most]) + ' ...' * (len(ids) > most)
    says = f'text {few}'.strip()
    if answer.kind is Kind.POSITION:
        assert answer.pose == answer.evidence[0].memory.pose
        each = f'in order {few}' if answer.in_order else f'each {few}'
        says = each if answer.every_place else f'at {ids[0]}'
    elif answer.kind is Kind.TIME:
        says = f'{"when" if answer.time_ns == answer.evidence[0].memory.end_ns else "since"} {ids[0]}'
    elif answer.kind is Kind.DURATION:
        says = f'{answer.duration_s:g} s'
    elif answer.kind is Kind.BINARY:
        says = ' '.join(['yes' if answer.binary else 'no', *ids[:1]])
    elif answer.kind is Kind.NOT_SEEN:
        says = 'not seen'
    return says if answer.confidence >= 0.5 else f'perhaps {says}'


def assert_told(answer: Answer, short: str, said: str = '', most: int = 3) -> None:
    """Compare an answer with what it is in short, and with a part of its text.

    :param short: as of :func:`in_short`; after "(perhaps)", however sure it is
    """
    told = in_short(answer, most)
    expected = short.removeprefix('(perhaps) ')
    told = told if expected == short else told.removeprefix('perhaps ')
    assert (told, said in answer.text) == (expected, True), answer.text
