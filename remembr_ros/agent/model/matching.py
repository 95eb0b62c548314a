"""Matches a question's words in a memory: synonyms, misreadings, numbers, colours, cut-off texts."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.english import is_part, is_word, tags
from remembr_ros.agent.model.other_words import ROOMS, is_purpose, other_stems
from remembr_ros.agent.model.sought import Sought
from remembr_ros.memory.matching.bm25 import term_of
from remembr_ros.memory.matching.terms import STOP_WORDS, content_stems, stem, words
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.wording import of_itself

MIN_ALIKE = 0.8  # Share of letters in which a name and a word read by OCR agree, if they are the same

MIN_MISREAD = 0.88
"""The same, if nothing else speaks for it: 'Cafetria' is a cafeteria, a painter is no printer."""

MISSPELLED = 0.75
"""The same for a word that is none, and one that was seen: an answer says that it was taken for that."""

MIN_ROOT = 7  # Letters of a word that longer ones are made of: 'printer' is one, 'paint' is not
_CLAUSE = re.compile(r'[,.;:!?()"\n]+')
_PARTICLES = frozenset('on off up down out over in back'.split())
_VERBS = frozenset(('VBZ', 'VBD', 'VBP', 'MD'))
_PAIR = re.compile(r'([^\W\d_]+)(?=(?:[ -]+([^\W\d_]+))?)')

_UNREAL = re.compile(
    r'\b(?:no|without|without any)\s+(?:\w+\s+){0,2}$'
    r'|\b(?:likely|possibly|perhaps|probably|maybe|presumably|potentially|(?:may|might|could) be)\b'
)
_GRAMMAR = frozenset(  # which no lexicon of things and deeds has
    'against although among anybody because beside during everybody her herself himself ours per shall since '
    'theirs toward towards upon via without yours yourself'.split()
)
_SHOWS = re.compile(
    r'\b(?:picture|photo|photograph|painting|poster|drawing|portrait|statue|sculpture|model|sticker|logo)s?'
    r'\s+of\s+(?:\w+\s+){0,3}\w+$'
)
"""'a picture of a dog' is none."""

_NUMBERED = ROOMS | frozenset(
    'aisle bay building classroom desk dock elevator exit floor gate hall lab laboratory level lift line '
    'machine platform printer rack shelf station studio suite table unit workshop'.split()
)
"""What commonly has a number of its own."""

_COLOURS = frozenset(
    'beige black blue brown gold golden gray green grey orange pink purple red silver turquoise violet white '
    'yellow'.split()
)

_MATERIALS = frozenset(
    'brick cardboard concrete fabric glass gold leather metal paper plastic rubber steel stone wood'.split()
)

_SORTS = frozenset(
    'area building centre center class classroom department hall lab laboratory machine office room shop '
    'station store studio suite wing zone'.split()
)
"""What there are many sorts of: the word before it says which."""


def asked_stems(sought: Sought) -> frozenset[str]:
    """Return the stems of what is asked about, and those of words for the same."""
    asked = content_stems(sought.target) if sought.target else frozenset[str]()
    return asked.union(*(other_stems(word, deed=word == sought.deed) for word in asked))


def asked_words(sought: Sought) -> list[str]:
    """Return the stems of the words asked for, each once; those that say little if there are no others."""
    asked = words(sought.target)
    return list(dict.fromkeys(stem(w) for w in [w for w in asked if w not in STOP_WORDS] or asked))


def words_found(sought: Sought, memory: Memory) -> list[bool]:
    """Return which of the asked words a memory has, as they are or as a camera may misread them."""
    present = _present(memory)
    return [_is_present(word, present, MIN_MISREAD, deed=word == sought.deed) for word in asked_words(sought)]


def says(text: str, word: str, *forms: str, deed: bool = False) -> bool:
    """Tell whether a text has a word, another form of it or another word for the same.

    :param deed: what serves to do that is not the same
    """
    spoken = words(text)
    present = {*map(stem, spoken), *map(term_of, spoken)}
    least = MIN_MISREAD if _is_known(word) else MISSPELLED
    return any(
        _is_present(stem(w), present, least, deed=deed) or term_of(w) in present for w in (word, *forms)
    )


def is_colour(text: str) -> bool:
    """Tell whether a text names a colour and no thing: 'a white one'."""
    return {word for word in words(text) if word not in STOP_WORDS and word != 'ones'} <= _COLOURS


def is_english(text: str) -> bool:
    """Tell whether a text may be English: a third of its words ask, or all but names are in a lexicon."""
    spoken = words(text)
    asking = sum(word in STOP_WORDS for word in spoken)
    named = {word.lower() for word in re.findall(r'[^\W\d_]+', text)[1:] if word.istitle()}
    known = (any(map(str.isdigit, word)) or word in named or _is_known(word) for word in spoken)
    return 3 * asking >= len(spoken) or all(known)


def misspelled(sought: Sought, around: Sequence[Memory]) -> dict[str, str]:
    """Return the asked words that are none, each with a word of some memories that is spelled like it."""
    present = sorted({word for memory in around for text in _texts(memory) for word in words(text)})
    unknown = [w for w in words(sought.target) if w.isalpha() and len(w) > 3 and not _is_known(w)]
    near = (
        (word, get_close_matches(word, present, 1, MISSPELLED)) for word in unknown if word not in present
    )
    return {word: found[0] for word, found in near if found}


def _is_known(word: str) -> bool:
    return word in STOP_WORDS or word in _GRAMMAR or is_word(word)


def another_thing(sought: Sought, memory: Memory) -> str:
    """Return what a memory names by the asked noun and is another thing: a fire extinguisher is no fire, a
    picture of a dog is none, a bus stop sign is no stop sign.

    :return: empty: it has the thing itself, or does not name it
    """
    names = {sought.head, *other_stems(sought.head)}
    others = ''
    for text in _texts(memory):
        for clause in _CLAUSE.split(text.lower()):
            for found in _PAIR.finditer(clause):
                if stem(found[1]) not in names:
                    continue
                if shown := _SHOWS.search(clause[: found.end()]):
                    others = others or shown[0]
                elif longer := _longer_name(words(sought.phrase), words(clause[: found.end()])):
                    others = others or longer
                elif stem(found[2] or '') in asked_words(sought) or not _is_compound(clause, found):
                    return ''
                else:
                    others = others or f'{found[1]} {found[2]}'
    return others


def is_denied_or_guessed(sought: Sought, memory: Memory) -> bool:
    """Tell whether a memory names a thing only to say that there is none, or that there may be one."""
    names, found = {sought.head, *other_stems(sought.head)}, False
    for clause in (clause for text in _texts(memory) for clause in _CLAUSE.split(text.lower())):
        for word in (word for word in _PAIR.finditer(clause) if stem(word[1]) in names):
            if not _UNREAL.search(clause[: word.start()]):
                return False
            found = True
    return found


def _longer_name(phrase: Sequence[str], spoken: Sequence[str]) -> str:
    """Return the name of several words that a text ends with, if a noun makes it that of another thing.

    One word with a noun before it is still that: a police car is a car.
    """
    end = spoken[-len(phrase) - 1 :]
    if len(phrase) < 2 or len(end) <= len(phrase) or list(map(stem, end[1:])) != list(map(stem, phrase)):
        return ''
    if len(end) == len(spoken) and is_part(end[0], 'verb'):  # 'Put X-ray films on the table.'
        return ''
    of_its_own = end[0] not in _COLOURS | _MATERIALS | STOP_WORDS and is_part(end[0], 'noun')
    return ' '.join(end) if of_its_own else ''


def _is_compound(clause: str, found: re.Match[str]) -> bool:
    """Tell whether a noun only says which kind of the next noun it is."""
    if found[2] is None or found[2] in STOP_WORDS or not is_part(found[2], 'noun'):
        return False
    tagged = tags(clause)
    tag = tagged.get(found.start(2), '')
    if tag == 'NNS' and is_part(found[2], 'verb') and _VERBS.isdisjoint(tagged.values()):
        return False  # 'the parcel trolley waits': a sentence has a verb
    return tag in ('NN', 'NNS', 'NNP')


def lacks_a_part(sought: Sought, memory: Memory) -> bool:
    """Tell whether a memory lacks a word for the thing; of a question of yes or no, or what, any word of it.

    Whoever asks whether a cup is under the table is not told of a cup on it.
    """
    asked = words(sought.phrase)
    if sought.kind in (Kind.BINARY, Kind.TEXT) and not (sought.reading or sought.counting):
        asked += sought.said
        if sought.kind is Kind.BINARY and (not asked or asked[-1] in _PARTICLES):
            return True  # that a thing is on, or off
    if sought.deed and sought.kind is not Kind.POSITION:
        asked.append(sought.deed)
    present = _present(of_itself(memory))
    # What serves a purpose is not what was done there: a cafeteria is no lunch.
    itself = sought.kind is Kind.TEXT
    return not all(
        _is_present(word, present, MIN_MISREAD, deed=itself or word == sought.deed)
        for word in map(stem, asked)
    )


def has_what_it_must(sought: Sought, memory: Memory) -> bool:
    """Tell whether a memory has the numbers, quotations, names and colours that are asked for."""
    texts, present = _texts(memory), _present(memory)
    if not all(_is_present(identifier, present) for identifier in sought.identifiers):
        return False
    if not all(any(has_number(text, *number) for text in texts) for number in sought.numbered):
        return False
    named = sum(_is_present(name, present) for name in sought.names)
    which = {w for w in asked_words(sought) if w not in (sought.head, *_SORTS) and not is_purpose(w)}
    if sought.head in _SORTS and which:
        # A sign that says 'ROOM' is no server room, and two people are no men's room.
        of_that_sort = _is_present(sought.head, present) or (named > 0 and named == len(sought.names))
        if not of_that_sort or not any(_is_present(word, present) for word in which):
            return False
    return 2 * named >= len(sought.names) and not _has_other_colour(sought.target, texts)


def _has_other_colour(target: str, texts: tuple[str, ...]) -> bool:
    """Tell whether the coloured thing asked for is there in other colours only: a purple sofa is no red one.

    A thing of which no colour is told may have any.
    """
    asked = words(target)
    for index, word in enumerate(asked):
        if word not in _COLOURS or (index and asked[index - 1] in _COLOURS):
            continue
        # 'red leather sofa'; of 'Is the sofa red?' is left 'sofa red'
        things = [w for w in asked[index:] if w not in _COLOURS] or asked[:index][-1:]
        wanted = {_colour(w) for w in asked[index:] if w in _COLOURS}
        named = [colours for text in texts for colours in _colours_of(things[0], text)] if things else []
        if named and all(colours and wanted.isdisjoint(colours) for colours in named):
            return True
        if things and not named and _is_of_another(wanted, texts):
            return True
    return False


def _is_of_another(wanted: set[str], texts: tuple[str, ...]) -> bool:
    """Tell whether texts have these colours, and each time of a thing that they name."""
    parts = [words(clause) for text in texts for clause in _CLAUSE.split(text)]
    after = [
        next(iter(part[i + 1 :]), '') for part in parts for i, w in enumerate(part) if _colour(w) in wanted
    ]
    return bool(after) and all(word and word not in STOP_WORDS for word in after)


def _colours_of(thing: str, text: str) -> list[set[str]]:
    """Return the colours of a thing wherever a text names it; none where it tells none."""
    names = {stem(thing), *other_stems(stem(thing))}
    found = []
    for clause in _CLAUSE.split(text):
        spoken = words(clause)
        for index, word in enumerate(spoken):
            if stem(word) in names:
                before = spoken[max(index - 3, 0) : index]
                # 'a white and blue truck', but of 'a green door and the truck' the door is green
                other = [i for i, w in enumerate(before) if w in STOP_WORDS and not _joins_colours(before, i)]
                found.append({_colour(w) for w in before[other[-1] + 1 if other else 0 :] if w in _COLOURS})
    return found


def _joins_colours(part: Sequence[str], index: int) -> bool:
    around = part[max(index - 1, 0) : index + 2]
    return (
        part[index] in ('and', 'or') and len(around) == 3 and around[0] in _COLOURS and around[2] in _COLOURS
    )


def _colour(word: str) -> str:
    return {'grey': 'gray', 'golden': 'gold', 'violet': 'purple'}.get(word, word)


def has_number(text: str, number: str, noun: str) -> bool:
    """Tell whether a text has a number as that of a noun: 'LAB 3' is not room 3, and '3 chairs' is neither.

    :param number: lower case
    :param noun: a stem; empty: of anything
    """
    # 'B12' may be painted 'B 12'.
    spelled = r'[\s.-]?'.join(map(re.escape, re.findall(r'\d+|\D+', number)))
    for found in re.finditer(rf'(?<![^\W_]){spelled}(?![^\W_])', text, re.IGNORECASE):
        before = re.search(r'([^\W\d_]+)[\s#.:-]{0,9}$', text[max(found.start() - 40, 0) : found.start()])
        owner = stem(before[1].lower()) if before else ''
        if noun and owner == noun:
            return True
        counted = re.match(r'\s+([a-z]+)', text[found.end() :])
        if counted and counted[1] not in STOP_WORDS:
            continue
        if not noun or owner not in _NUMBERED or (noun in ROOMS and owner in ROOMS):
            return True
    return False


def is_cut_off(sought: Sought, around: Sequence[Memory]) -> bool:
    """Tell whether a number asked for was only read of the part of a longer one that was in view.

    :param around: the memory that shows the number, and those of the same place: if they have 'ROOM 133'
        twice as often as 'ROOM 13', there is no room 13
    """
    for number, noun in sought.numbered:
        whole = 0
        longer: Counter[str] = Counter()
        for memory in around:
            texts = _texts(memory)
            whole += any(has_number(text, number, noun) for text in texts)
            longer.update({w for text in texts for w in words(text) if _continues(w, number, noun, text)})
        if longer and max(longer.values()) >= 2 * whole:
            return True
    return False


def _continues(word: str, number: str, noun: str, text: str) -> bool:
    rest = word.removeprefix(number) if word.startswith(number) else word.removesuffix(number)
    return rest != word and rest.isdigit() and has_number(text, word, noun)


def _present(memory: Memory) -> set[str]:
    return {stem(word) for text in _texts(memory) for word in words(text)}


def _texts(memory: Memory) -> tuple[str, ...]:
    return (memory.caption, *memory.scene_text)


def _is_present(asked: str, present: set[str], least: float = MIN_ALIKE, *, deed: bool = False) -> bool:
    names = {asked, *other_stems(asked, deed=deed)}
    return not present.isdisjoint(names) or _is_alike(asked, present, least)


def _is_alike(asked: str, present: set[str], least: float) -> bool:
    """Tell whether a word is there as a camera may misread it. Numbers are read right or not at all."""
    if len(asked) < 5 or any(c.isdigit() for c in asked):
        return False
    if len(asked) >= MIN_ROOT and any(word.startswith(asked) for word in present):
        return True  # 'skateboarding' shows a skateboard
    known = is_word(asked)  # of two words of the language none is the other misread: 'seating' is no eating
    near = (
        word
        for word in present
        if len(word) > 3
        and _alike_at_most(asked, word) >= least
        and not (known and word[0] != asked[0] and is_word(word))
    )
    return any(SequenceMatcher(None, asked, word).ratio() >= least for word in near)


def _alike_at_most(asked: str, word: str) -> float:
    """Return a bound of the ratio of two words, in a fraction of its time: by their lengths and letters."""
    letters = len(asked) + len(word)
    return 2.0 * sum(min(asked.count(letter), word.count(letter)) for letter in set(asked)) / letters
