"""Which words of a question an answer is about: while others are left, nobody is sure of it."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.english import Tree, Word, is_there, is_word, parse
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.model.matching import says
from remembr_ros.agent.model.relevance_model import PERHAPS
from remembr_ros.agent.offline.not_seen import UNTOLD
from remembr_ros.agent.offline.question_terms import names
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.deeds.verbs import is_form, is_same_kind
from remembr_ros.memory.matching.ranking import split_sentences
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import PERSON

_CONTENT = frozenset('NOUN PROPN VERB ADJ NUM ADV X INTJ'.split())
_NOUNS = frozenset(('NOUN', 'PROPN'))
_ASKING = frozenset('WDT WP WP$ WRB'.split())
_SAID_OF = frozenset('amod compound nummod nmod poss'.split())
_SELF = frozenset('you we i robot'.split())
_WHO = frozenset('who whom whose'.split())
_WISHING = frozenset('want need like'.split())
_WHOSE = frozenset('my his her their'.split())
_ALL = frozenset('all whole entire'.split())
_NEAREST = frozenset('nearest closest farthest furthest'.split())
_HERE = frozenset('here me us you'.split())
_COMMON, _NEGATIVE, _SEEING, _GOING = map(word_class, ('common', 'negative', 'seeing', 'going'))
_ATTRIBUTES = word_class('attributes')
_ASKED = {by: word_class(f'of_{by}') for by in ('places', 'objects', 'motion', 'day', 'sights', 'deeds')}
"""What each way to answer makes something of, besides what its evidence shows; lemmas."""


@dataclass(frozen=True, slots=True)
class Accounted:
    """A claim, and the words of the question that it is not about.

    :param by: what made it: goals, which tells its own words, or a key of _ASKED
    :param left: in the asker's words
    :param understood: the others that carry meaning
    """

    claim: Claim
    by: str
    left: Sequence[str] = ()
    understood: Sequence[str] = ()


def found(claim: Claim, by: str, text: str, request: Request, taken: Collection[str] = ()) -> Accounted:
    """Return a claim with the words of a question that it is about, and those that it is not about.

    :param text: the question
    :param taken: words that say when, where or of which robot, in lower case
    """
    tree = parse(text)
    content = [word for word in tree if _tells(word, tree)]
    if by == 'goals' or claim.unused is not None:
        left = [word for word in content if word.low in {unused.lower() for unused in claim.unused or ()}]
    else:
        asked = _asked_for(claim, by, tree, request) | set(taken)
        about = set(words(claim.about))
        asked = asked - {'or'} if by in ('deeds', 'objects') else asked
        if claim.denies:
            asked = asked - _NEGATIVE
            # The robot knows all that it did, of others nothing.
            things = _nouns(tree) if by == 'deeds' else _things(tree, request.phrase)
            about = (about | things) - (_others(tree) if by == 'deeds' else set())
            if by == 'sights' and not things:  # what is 'comes after'?
                named = set(words(request.target))
                asked = asked - {form for w in tree if w.low in named for form in (w.low, w.lemma)}
        shown = list(dict.fromkeys(_texts(claim, by)))  # of a month of deeds, most are alike
        deeds = claim if by == 'deeds' else None
        left = [word for word in content if not _is_met(word, asked, about, shown, deeds)]
        others = [word for word in tree if word not in left]
        if by == 'deeds':
            left += [w for w in others if w.low not in about and _is_not_told(w, tree, claim)]
        elif by == 'places':
            # What was done between two places is told, although nobody went from one to the other.
            left += [
                w
                for w in others
                if _is_of_things(w, tree) or (claim.denies and w.lemma == 'do' and w.pos == 'VERB')
            ]
        elif by == 'motion':
            # 'How far had you driven when you saw it' is until then.
            left += [w for w in others if _is_of_asker(w, tree) or (w.low == 'had' and w.dep == 'aux')]
        elif by == 'sights' and shown:
            left += [word for word in others if _is_not_shown(word, tree, claim, shown[0])]
        left += [w for w in others if w not in left and _is_beside(w, tree, about, shown, deeds)]
    beyond = (word for word in tree if word not in left and _is_beyond(word, tree, by))
    compared = _NEAREST.intersection(words(claim.about))
    left += [word for word in beyond if by != 'goals' and word.low not in compared]
    said_of = tuple(word.text for word in content if word not in left)
    return Accounted(claim, by, tuple(word.text for word in left), said_of)


def _asked_for(claim: Claim, by: str, tree: Tree, request: Request) -> set[str]:
    """Return the words that a way to answer makes something of, besides what its evidence shows."""
    asked = _COMMON | _ASKED[by] | _chosen(request)
    if request.kind is Kind.POSITION:
        asked |= _GOING
    if request.far:
        asked |= {'far', 'distance'}
    if request.reading:
        asked |= {'write'}
    if by == 'deeds':  # 'three things', and not three boxes
        asked |= {word.low for word in tree if word.pos == 'NUM' and tree.head(word).lemma in asked}
    if claim.kind in (Kind.TIME, Kind.POSITION, Kind.DURATION):
        asked -= {'both'}
    return set(asked) if claim.kind is Kind.DURATION else set(asked - word_class('usual'))


def _is_met(
    word: Word, asked: Collection[str], about: set[str], shown: Sequence[str], deeds: Claim | None
) -> bool:
    """Tell whether a claim is about a word: it asks for such, was looked for, or is in what was found."""
    if word.tag == 'MD':
        return False
    if word.dep == 'amod' and word.low in ('wrong', 'right'):
        return False
    if word.tag in ('JJS', 'RBS') and word.low not in about:
        return word.low in asked and word.low in word_class('ranked' if deeds is None else 'ranked_of_deeds')
    spoken = set(words(word.text))
    if word.lemma in _ATTRIBUTES and word.low not in about.union(asked).difference(_COMMON):
        return False  # what has a name, or a colour, need not say it
    is_asked = not {word.low, word.lemma}.isdisjoint(asked) or spoken <= about.union(asked)
    return is_asked or word.lemma in about or (word.low not in _NEGATIVE and _is_shown(word, shown, deeds))


def _is_shown(word: Word, shown: Sequence[str], deeds: Claim | None) -> bool:
    if word.low in _WHO:
        return any(names(text) or says(text, 'person') for text in shown)
    if _is_name(word) and is_word(word.low):  # Gates is no gate
        name = re.escape(word.text)
        return any(re.search(rf'\b(?:{name}|{name.upper()})\b', text) for text in shown)
    done = word.tag in ('VBG', 'VBD', 'VBN')  # where people may eat is nobody who eats
    if any(says(text, word.low, word.lemma, deed=done) for text in shown):
        return True
    return deeds is not None and word.dep != 'amod' and _is_kind(word, deeds)


def _is_not_told(word: Word, tree: Tree, claim: Claim) -> bool:
    """Tell whether deeds do not tell a word: how many flowers, of 'the flowers'; to what it was done."""
    facts = [hit.memory.facts for hit in claim.evidence]
    things = [str(fact.get('object', '')) for fact in facts]
    if word.low == 'why':
        return not any(fact.get('reason') or fact.get('outcome') not in ('', 'succeeded') for fact in facts)
    somebody = word.low.endswith(('one', 'body')) and word.dep == 'nsubj' and tree.head(word).pos == 'VERB'
    hand = word.low in ('hand', 'hands') and word.pos == 'NOUN'  # 'in your hands' it is, whichever
    if somebody or (hand and 'your' not in {child.low for child in tree.children(word)}):
        return True
    counted = tree.head(word).low
    if word.low == 'many' and counted.endswith('s'):
        return any(counted in words(thing) for thing in things)
    if any(who.low in _SELF for who in tree.children(word, 'nsubjpass')):
        # What others did to the robot is none of its deeds, but what it was asked to do.
        return not (tree.children(word, 'xcomp') or _is_kind(word, claim))
    if word.dep not in ('dobj', 'nsubjpass') or word.pos not in _NOUNS or not all(things):
        return False
    others = (f'{fact.get("receptacle", "")} {fact.get("place", "")}' for fact in facts)
    return not any(says(thing, word.low, word.lemma) for thing in things) and any(
        says(other, word.low, word.lemma) for other in others
    )


def _is_beside(word: Word, tree: Tree, about: set[str], shown: Sequence[str], deeds: Claim | None) -> bool:
    """Tell whether a clause beside the main one is not looked after: 'the films that the ward gave you'."""
    if word.dep not in ('relcl', 'advcl', 'acl') or word.pos != 'VERB':
        return False
    is_said = word.lemma in _SEEING | _COMMON | {'do', 'make'} or not about.isdisjoint((word.low, word.lemma))
    return not (is_said or _is_shown(word, shown, deeds))


def _is_beyond(word: Word, tree: Tree, by: str) -> bool:
    """Tell whether a word asks for more than anybody tells: all the time, up, the nearest to others."""
    if word.lemma == 'time':
        said = {child.low for child in tree.children(word)}
        return bool(said & _ALL) or (not said and tree.head(word).low in ('in', 'on'))
    before, after = tree.words[max(word.index - 1, 0)], tree.words[min(word.index + 1, len(tree.words) - 1)]
    head, low = tree.head(word).lemma, word.low
    more = (
        low in ('up', 'down') and head in ('go', 'drive', 'come', 'travel'),
        low == 'off' and head in ('go', 'drive', 'come', 'get', 'set') and by != 'motion',
        low in ('after', 'before') and before.low == 'long',  # 'how long after the lift'
        low in ('over', 'above', 'under', 'below') and after.pos == 'NUM',
    )
    if low not in _NEAREST:
        return any(more)
    near = (word, *(one for one in [tree.head(word)] if word.dep == 'amod' and one.low != 'way'))
    return bool({other.low for one in near for other in tree.about(one, 'from', 'to')} - _HERE)


def _is_of_things(word: Word, tree: Tree) -> bool:
    """Tell whether a thing was taken somewhere: a place knows who went there."""
    things = {thing.low for thing in tree.children(word, 'dobj')}
    return word.lemma in ('take', 'bring', 'get') and bool(things - {'me', 'us', 'it'})


def _is_of_asker(word: Word, tree: Tree) -> bool:
    """Tell whether somebody else may do what is asked: how the robot moved says nothing of that."""
    return word.tag == 'MD' and 'you' not in {who.low for who in tree.children(tree.head(word), 'nsubj')}


def _is_not_shown(word: Word, tree: Tree, claim: Claim, text: str) -> bool:
    """Tell whether a word is in what was seen, and not of what is asked."""
    yes = claim.binary is True
    return _is_of_others(word, tree, text, of_self_alone=not yes) or (yes and _is_apart(word, tree, text))


def _is_of_others(word: Word, tree: Tree, text: str, *, of_self_alone: bool) -> bool:
    """Tell whether what was seen is or does what is asked of another: power lines run, and nobody does."""
    of = (word, tree.head(word)) if word.dep == 'acomp' else (word,)
    who = [noun for one in of for noun in tree.children(one, 'nsubj', 'nsubjpass')]
    said = word.tag in ('VBG', 'VBD', 'VB', 'VBN') or word.dep == 'acomp'
    of_self = bool(who) and who[0].low in _SELF
    known = _SEEING | _COMMON | (_GOING if of_self else frozenset())
    if not (said and who) or who[0].low == 'i' or word.lemma in known:
        return False
    sentence = next((s for s in split_sentences(text) if says(s, word.low, word.lemma)), '')
    told = parse(sentence)
    named = [one for one in told if says(one.low, word.low, word.lemma)]
    doing = [one for one in named if one.pos != 'NOUN']
    if named and not doing and word.dep == 'ROOT' and not of_self:
        return True  # who waits at a bus stop saw no bus stop
    if of_self_alone and not of_self:
        return False
    around = {near.low for one in doing for near in (told.head(one), *told.children(one))}
    if of_self:
        return bool(doing) and around.isdisjoint(_SELF)
    return bool(doing) and not any(says(near, who[0].low, who[0].lemma) for near in around)


def _is_apart(word: Word, tree: Tree, text: str) -> bool:
    """Tell whether no sentence has both that 'with' joins: people with umbrellas."""
    one, joined = tree.head(word), tree.children(word, 'pobj') if word.low == 'with' else ()
    sentences = [s for s in split_sentences(text) if says(s, one.low, one.lemma)]
    both = any(says(s, noun.low, noun.lemma) for noun in joined for s in sentences)
    return bool(joined) and one.pos in _NOUNS and not both


def _tells(word: Word, tree: Tree) -> bool:
    """Tell whether a word puts a condition that an answer has to meet."""
    if word.tag in _ASKING or word.tag == 'PRP$':
        return word.low in _WHO | _WHOSE | {'why'}
    if word.tag == 'MD':
        return word.low in word_class('able') and _asks_leave(word, tree)
    if word.lemma in _WISHING:  # 'I want to sit', and not 'Who wants the parcel?'
        return not {child.low for child in tree.children(word, 'nsubj')} & _SELF
    if word.lemma in word_class('of_things'):  # 'the name of the street', and not 'which kind of cup'
        of = any(child.low == 'of' for child in tree.children(word, 'prep')) and word.dep != 'ROOT'
        return of or (word.tag == 'NNS' and bool(tree.children(word, 'compound')))  # 'street names'
    if word.dep == 'neg' and word.index <= 2:  # 'Isn't there a lift?'
        return tree.head(word).dep != 'ROOT'
    before = tree.words[max(word.index - 1, 0)].low
    but = word.low == 'but' and before.endswith(('one', 'body', 'thing', 'where'))  # 'anyone but you'
    says_more = but or word.low in _NEGATIVE | word_class('apart') | {'or', 'both'}
    return says_more or (word.pos in _CONTENT and word.dep not in ('aux', 'auxpass'))


def _is_name(word: Word) -> bool:
    return word.text[:1].isupper() and word.start > 0 and word.text != word.text.upper()


def _asks_leave(word: Word, tree: Tree) -> bool:
    """Tell whether it is asked what somebody may, and not what the robot can tell: 'Can I use the lift?'"""
    verb = tree.head(word)
    who = {child.low for child in tree.children(verb, 'nsubj', 'nsubjpass')}
    placed = any(child.tag == 'WRB' for child in tree.children(verb))  # 'Where can I sit?'
    return not (placed or verb.lemma in _SEEING | _COMMON or (verb.lemma in _GOING and 'you' in who))


def _chosen(request: Request) -> set[str]:
    """Return the words by which a request chooses one of several."""
    if request.choice is Choice.CITED_FIRST and not request.arriving:
        return set()
    return set(word_class('choosing'))


def _things(tree: Tree, phrase: str) -> set[str]:
    """Return the words of the noun phrases that a phrase is of: 'a red fire bucket', no 'colour'."""
    spoken, things = set(words(phrase)), set[str]()
    for named, run in groupby(tree, _is_named):
        group = list(run) if named else []
        while group and group[-1].pos not in _NOUNS and not group[-1].text[-1:].isdigit():
            group.pop()  # of 'Are the chairs empty?' it is the chairs
        found = {word.low for word in group if not _looks(word, tree)}
        tells = any(word.lemma not in _ATTRIBUTES or word.pos == 'NUM' for word in group)
        things |= found if found & spoken and tells else set()
    return things


def _looks(word: Word, tree: Tree) -> bool:
    """Tell whether a word is of somebody who sees, and not of what is seen: 'Did Linda see the lift?'"""
    return word.dep == 'nsubj' and tree.head(word).lemma in word_class('looking')


def _is_named(word: Word) -> bool:
    return word.pos in _NOUNS | {'ADJ', 'NUM'} or word.dep in _SAID_OF or any(map(str.isdigit, word.text))


def _nouns(tree: Tree) -> set[str]:
    return {word.low for word in tree if word.pos in _NOUNS | {'ADJ', 'NUM'}}


def _others(tree: Tree) -> set[str]:
    """Return the words for those who are said to do something, if that is not the robot."""
    others = [word for word in tree if word.dep == 'nsubj' and word.low not in _SELF]
    return {w.low for other in others if tree.head(other).pos == 'VERB' for w in tree.below(other)}


def _texts(claim: Claim, by: str) -> Iterable[str]:
    """Yield what the evidence of a claim says, and what it says where that is not the asker's words."""
    hits = [hit for hit in (*claim.evidence, claim.start, claim.end) if hit is not None]
    for hit in hits[: {'sights': 1, 'motion': 0}.get(by)]:  # what was in view is no motion
        yield _text(hit)
    if by not in ('sights', 'objects'):
        yield claim.text.lower()  # the words of an answer are no names


def _text(hit: Hit) -> str:
    memory = hit.memory
    facts = ': '.join(str(value) for value in memory.facts.values() if isinstance(value, str))
    return ': '.join((memory.caption, *memory.scene_text, facts, hit.place, memory.robot, memory.map_id))


def _is_kind(word: Word, claim: Claim) -> bool:
    kinds = {str(hit.memory.facts.get('kind', '')) for hit in claim.evidence}
    return any(kind and (is_same_kind(word.low, kind) or is_form(word.low, kind)) for kind in kinds)


def best(candidates: Iterable[Accounted]) -> Accounted:
    """Return the first claim that is about all of a question; else that which is about most of it.

    Of several it is the first that says what is, before one that something is not.
    """
    seen: list[Accounted] = []
    for one in candidates:
        seen.append(one)
        if not one.left:
            break
    return min(seen, key=lambda one: (len(one.left), one.claim.denies))


def said(one: Accounted) -> Claim:
    """Return a claim that is as sure as it may be, and says what it is not about."""
    claim = one.claim
    if not is_there():
        return replace(claim, confidence=min(claim.confidence, PERHAPS))
    left = ', '.join(f'"{word}"' for word in one.left)
    if claim.denies and claim.confidence < EVEN:
        # Who cannot tell of a cup says that it is for want of "empty".
        unsaid = left and {word.lower() for word in one.left}.isdisjoint(words(claim.text))
        tells = unsaid and claim.text.startswith(('I cannot tell', 'I have seen'))
        return replace(claim, text=f'{claim.text} Left out: {left}.') if tells else claim
    if not one.left:
        return claim
    if 'why' in map(str.lower, one.left):  # what was done is no reason
        return Claim(Kind.NOT_SEEN, 'I cannot tell why: nothing that I remember says it.', confidence=UNTOLD)
    if claim.denies:
        return Claim(Kind.NOT_SEEN, f'I do not understand {left} here, so I cannot tell.', confidence=UNTOLD)
    if claim.binary and claim.evidence[0].memory.source == PERSON:  # a note says more than yes
        text = f'I cannot tell, but a person noted "{claim.evidence[0].memory.caption}"'
        claim = replace(claim, kind=Kind.TEXT, binary=None, text=text)
    understood = ', '.join(one.understood) or 'nothing'
    note = f'{claim.note} I understood: {understood}; not: {left}.'
    return replace(claim, note=note, confidence=min(claim.confidence, PERHAPS))
