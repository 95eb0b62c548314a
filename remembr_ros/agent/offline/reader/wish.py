"""Reads a wish to be taken to what the robot did something to: 'Go to the table that you put it on'."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from remembr_ros.agent.model.english import Tree, Word, parse_named
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.quoting import any_case, cardinal, ordinal
from remembr_ros.agent.offline.reader.sides import find_sides
from remembr_ros.agent.offline.word_classes import classes_of, word_class
from remembr_ros.memory.deeds.query import HANDLING, DeedOrder, DeedQuery
from remembr_ros.memory.deeds.verbs import base, is_deed
from remembr_ros.memory.matching.terms import stem, words

_LEAD = any_case(
    rf'^\W*(?:(?:{"|".join(word_class("order_go"))}|get)(?: me| us)?(?: back| over)? to|(?:re)?visit|reach'
    r'|where (?:is|are)|find) (?=\S)'
)
_PLAIN = (
    (any_case(r'^where (?=(?:you|the robot)\b)'), 'the place where '),
    (any_case(r'\bthe robot\b'), 'you'),
    # The model takes 'which' for what it is from.
    (any_case(r'\b(from|with|on|onto|into|in|at) (?=(?:which|that) (?:is|are|was|were)\b)'), r'\1, '),
)
_FAR = any_case(
    r',? ?(?:\b(?:and )?(?:that|which) (?:is|are|was|were) (?:the )?)?\b(?:(?P<far>farthest|furthest'
    r'|most (?:distant|remote))|nearest|closest)\b(?:(?: away)? (?:from|to) (?:here|me|us|you|where (?:you|we'
    r'|i) (?:are|am)|(?:your|the) current (?:position|place|location))\b)?(?!(?: away)? (?:from|to)\b)'
)
_ORDERED = any_case(
    r',? ?\b(?:in (?!(?:the )?(?:reverse|opposite|other)\b)(?:\w+ ){0,2}order(?:(?: as)?,|\b(?! to\b).*$)'
    r'|one after the other|chronologically)'
)
_SEQUENCE = any_case(r'\W+the order to (?:re)?visit them is\b:?(?P<listed>(?:,? \w+)+)\W*$')
_R, _A, _B = 'receptacle that you', r'((?:the|an?|your) .+?)', r'((?:the|an?|your)\b.+?)\W*$'
_QUESTIONS = {
    r'^(?:which|what) (\w+(?: \w+)?) (?:did|have|had) you (?!go\b|gone\b|visit|been\b)'
    r'(.*\b(?:twice|times|most|least|longest|shortest)\b.*)$': r'\1 that you \2',
    rf'^where (?:did|have|had) you \w+ {_A} from {_B}': rf'{_R} placed \1 on after you picked \1 from \2',
    rf'^(?:from (?:where|which \w+|what)|where(?=.* that you)) did you \w+(?: up)? {_A} (?:that you \w+ )?'
    rf'(?:to|onto|into|on|in) {_B}': rf'{_R} picked \1 from before you placed \1 on \2',
    rf'^where did you (?:take|bring|carry|deliver|move) (?!.* from\b){_A}(?: to)?\W*$': rf'{_R} placed \1 on',
    rf'^from (?:which|what) \w+ did you (?:take|pick|get|grab|move|fetch) {_A}'
    r'(?: up)?\W*$': rf'{_R} picked \1 from',
    rf'^where was {_A} (?:originally|initially|at first|(?:in|at) the (?:beginning|start)|before you \w+ '
    r'(?:it|them)(?: up)?)\W*$': rf'first {_R} picked \1 from',
}
"""Questions for where things were moved, and what the same wishes are to be taken to."""


@dataclass(frozen=True, slots=True)
class GoalRequest:
    """A wish to be taken to what the robot did something to, understood.

    :param target: words of the name of what is to be gone to; empty: any
    :param field: what that is to a deed, one of FIELDS
    :param any_of: names of which it has one; empty: any
    :param query: of the deeds that have such a target; without a kind, whatever uses it
    :param never: none of these were done to it
    :param times: so many of these were, at least and at most; an end may be None
    :param often: 1: most of these were, -1: fewest
    :param choice: which one, or all
    :param unused: words of the wish that none of this is about
    :param sequence: which of all, in this order; empty: all as it was done
    :param question: it is asked where that is
    """

    target: str
    field: str
    any_of: list[str]
    query: DeedQuery
    never: bool
    times: tuple[int, int | None]
    often: int
    choice: Choice
    unused: tuple[str, ...]
    sequence: tuple[int, ...] = ()
    question: bool = False


_HANDLED, _MOVED = (frozenset(map(base, word_class(name))) for name in ('handled', 'moved'))
_PARTS, _PHASES, _TAKING = map(word_class, ('parts', 'phases', 'taking'))
_INTO, _OUT, _INTERACTIONS = map(word_class, ('into', 'out', 'interactions'))
_VERBAL = re.compile(r'(?:ed|ing|en|st|nd|rd|th)$|^un')
"""What may be a participle, a superlative or an ordinal."""
_ANY = ('a', 'an', 'any', 'some', 'one')
_TIMES = {'once': 1, 'twice': 2, 'thrice': 3}
_LONG = dict.fromkeys(word_class('longest') | {'most'}, 1)
_LONG |= dict.fromkeys(word_class('shortest') | {'least', 'fewest'}, -1)
_LIKE_THAT = classes_of('like', base)
"""What is called so of which people say that it is shaped like that, or used for that."""
_SORTS = {word: sort for sort, named in classes_of('sort').items() for word in named}


def is_furniture(name: str) -> bool:
    """Tell whether things are put on or into what is called so, whatever a log says."""
    return not word_class('furniture').isdisjoint(map(stem, words(name)[-1:]))


def _named(said: list[str]) -> list[str]:
    """Return names of what is like that, or used for that: 'ball' of round; what is in no list, as it is."""
    return next((_LIKE_THAT[base(word)] for word in said if base(word) in _LIKE_THAT), said)


def read_goal(text: str, names: Iterable[str] = ()) -> GoalRequest | None:
    """Return what a wish asks for; None: it is none, or one for something else.

    A question for where things were moved is the wish to be taken there.

    :param text: without politeness and words of time
    :param names: of things that the memory knows
    """
    for question, wish in _QUESTIONS.items():
        if (asked := any_case(question)).match(text):
            goal = read_goal(asked.sub(f'go to the {wish}', text), names)
            return goal and replace(goal, question=True)
    listed, ordered, far = _SEQUENCE.search(text), _ORDERED.search(text), _FAR.search(text)
    wished = ' '.join(_FAR.sub(' ', _ORDERED.sub(' ', _SEQUENCE.sub('', text))).split())
    if (lead := _LEAD.match(wished)) is None:
        return None
    wished = wished[lead.end() :]
    for pattern, plain in _PLAIN:
        wished = pattern.sub(plain, wished)
    if _names_alone(wished):
        return None
    # The model knows sentences with a subject better than commands.
    goal = _WishTree(parse_named(f'You go to {wished.rstrip(" .?!,")}.', names)).read()
    if goal is None or not (listed or ordered or far):
        return goal
    sequence = [nth for word in words(listed['listed']) if (nth := ordinal(word))] if listed else []
    choice = Choice.FARTHEST if far and far['far'] else Choice.NEAREST if far else Choice.IN_ORDER
    return replace(goal, choice=choice, sequence=tuple(sequence))


def _names_alone(wished: str) -> bool:
    """Tell whether a wish is but a name, which says of no deed: to parse that would load a model in vain."""
    named = words(re.sub(r'^(?:the|an?|my|your) ', '', wished))
    return len(named) == 1 or (len(named) < 4 and not any(_VERBAL.search(w) or is_deed(w) for w in named))


class _WishTree:
    """A wish, 'You go to ...', as a tree, and what is read of it.

    :ivar used: indices of the words that the request is about
    :ivar sides: of those that say after and before what it was done
    """

    def __init__(self, tree: Tree) -> None:
        self.tree, self.used, self.sides = tree, {0, 1, 2}, set[int]()
        self.nth: int | None = None
        self.never = self.to_place = False
        self.order, self.often = DeedOrder.FIRST, 0
        self.times: tuple[int, int | None] = (1, None)
        self.like, self.any_of = list[str](), list[str]()

    def read(self) -> GoalRequest | None:
        """Return what is asked for; None: of a deed nothing is said."""
        which, goal = self._goal()
        if goal is None:
            return None
        rest = self.tree.words[goal.index + 1 :]
        related, steps = self._related(goal)
        self.nth, self.never, self.to_place = None, False, False
        name, sort = self._phrase(goal)
        taken = any(w.lemma in _TAKING for w in rest if w.index not in self.sides)
        self._measure(rest, often=sort != 'place' and not taken)
        if (query := self._deed(rest)) is None:
            return None
        sort = 'receptacle' if self.to_place and sort != 'place' else sort
        sort = sort or ('receptacle' if is_furniture(goal.low) else 'object')
        order, nth = self.order, self.nth
        if nth is None:
            order = DeedOrder.LAST if related.keys() == {'before'} else order
            nth = steps if len(related) == 1 or order is not DeedOrder.FIRST else None
        query = replace(query, nth=nth, order=order, after=related.get('after'), before=related.get('before'))
        one = which in ('', 'the') and goal.tag not in ('NNS', 'NNPS')
        choice = Choice.NEAREST if which in _ANY else Choice.CITED_FIRST if one else Choice.EVERY
        name = ' '.join((*self.like, name)).strip()
        told = (w for w in self.tree if w.tells or w.low in _TIMES)
        unsure = _TIMES if self.never else ()  # 'not twice' may be once, or never
        unused = tuple(w.low for w in told if w.index not in self.used or w.low in unsure)
        return GoalRequest(name, sort, self.any_of, query, self.never, self.times, self.often, choice, unused)

    def _use(self, *used: Word) -> None:
        self.used.update(word.index for word in used)

    def _goal(self) -> tuple[str, Word | None]:
        """Return which is to be gone to, 'all', and of what."""
        which, goals = '', [w for to in self.tree.words[2:3] for w in self.tree.children(to, 'pobj', 'pcomp')]
        while goals:
            goal = goals[0]
            said = [w.low for w in self.tree.children(goal, 'det', 'predet')]
            which = which or ('all' if 'all' in said else next(iter(said), ''))
            goals = self.tree.about(goal)
            if not goals or goal.lemma not in _PARTS:
                return which, goal
            which = which if goal.lemma == 'piece' else goal.low
            self._use(goal)
        return which, None

    def _phrase(self, noun: Word) -> tuple[str, str]:
        """Return the words of a name, and of which sort it is, if that is all; take what else is said."""
        left = [word for word in self.tree.phrase(noun) if word.index < noun.index]
        sort, name = _SORTS.get(noun.lemma, ''), list[str]()
        self._use(noun, *left)
        for word in left:
            if (nth := ordinal(word.low)) is not None:
                self.nth = nth
            elif word.low == 'shaped' or (
                sort and word.tag.startswith('JJ') and base(word.low) in _LIKE_THAT
            ):
                self.any_of = _named(name if word.low == 'shaped' else [word.low])
                name = []
            elif word.low.startswith('un') and base(word.low[2:]) in _HANDLED | {base('visit')}:
                self.never = True
            elif word.tells and word.low not in ('colored', 'coloured'):
                name.append(word.low)
        return ' '.join([*name, *([] if sort else [noun.low])]), sort

    def _related(self, goal: Word) -> tuple[dict[str, DeedQuery], int]:
        """Return what something was done after and before, and how many deeds from that."""
        related, steps = dict[str, DeedQuery](), 1
        for side in find_sides(self.tree):
            if side.name not in ('after', 'before') or side.start <= goal.index:
                continue
            start, anchor = side.start, side.anchor
            number, counted = self.tree.words[start - 2 : start]
            if counted.lemma in _INTERACTIONS and (count := cardinal(number.low)):
                steps, start = count, start - 2  # 'three interactions before'
            self.sides.update(range(start, side.stop))
            self._use(*self.tree.words[start : side.said[0].index])
            self.nth = None
            if anchor.tag.startswith('VB'):
                query = self._clause(anchor, {w.index for w in side.said})
            else:  # a thing, to which something was done
                self._use(anchor, *(w for w in side.said if base(w.low) in _HANDLED))
                inner = self.tree.about(anchor) if anchor.lemma == 'interaction' else []
                query = DeedQuery(HANDLING, self._phrase((inner or [anchor])[0])[0])
            related[side.name] = replace(query, nth=self.nth)
        return related, steps

    def _deed(self, rest: Sequence[Word]) -> DeedQuery | None:
        """Return what is said to have been done, and take what the thing is said to be; None: nothing is."""
        query, passive = (DeedQuery() if self.never else None), None
        within = {w.index for w in rest} - self.sides - self.used
        for word in rest:
            if word.index not in within - self.used or not word.tag.startswith('VB') or 'aux' in word.dep:
                continue
            you = any(w.low in ('you', 'we') for w in self.tree.children(word, 'nsubj', 'nsubjpass'))
            done = [w for w in self.tree.below(word)[1:] if base(w.low) in _HANDLED and w.index in within]
            if not you and self._says_like(word):
                continue
            if word.lemma in _TAKING and self.order is not DeedOrder.FIRST and (done or not you):
                self._use(word, *done[:1])
                query = DeedQuery(HANDLING)
            elif you and query is None:
                query = self._clause(word, within)
            elif word.tag in ('VBN', 'VBD'):
                passive = passive or word
        return self._clause(passive, within) if query is None and passive is not None else query

    def _says_like(self, verb: Word) -> bool:
        """Tell whether a verb says what a thing is, is shaped like or used for, and take that."""
        inner = [*self.tree.about(verb, 'like', 'for'), *self.tree.children(verb, 'xcomp')]
        if verb.lemma == 'be':
            said = [w for w in self.tree.children(verb, 'acomp', 'attr') if w.tag == 'JJ']
            self.like += [w.low for w in said]
        elif inner and verb.lemma in ('shape', 'form', 'use'):
            said = list(takewhile(lambda w: not w.relates, self.tree.below(inner[0])))
            self.any_of = _named([w.low for w in said])
        else:
            return False
        self._use(verb, *said)
        return True

    def _clause(self, verb: Word, within: set[int]) -> DeedQuery:
        """Return the deed that a verb says, and note what of it the goal is.

        :param within: indices of the words that it may be about
        """
        tree = self.tree
        while verb.lemma in _PHASES and (inner := tree.children(verb, 'xcomp')):
            self._use(verb)
            verb = inner[0]
        self._use(verb, *(w for w in tree.children(verb, 'aux', 'auxpass') if w.tag != 'MD'))
        handled, moved = base(verb.low) in _HANDLED, base(verb.low) in _MOVED
        kind, thing, at = HANDLING if handled else verb.low, '', ''
        if moved and self.order is DeedOrder.FIRST:
            kind = 'place'  # each time that it was put somewhere
        parts = [w for w in tree.children(verb) if w.index in within]
        things = [w for w in parts if w.dep in ('dobj', 'nsubjpass') and not w.relates and w.low != 'you']
        for one in things:
            thing, _ = self._phrase(one)
            parts += [w for w in tree.children(one, 'prep') if w.index in within]
        for part in parts:
            if part.dep == 'neg' or part.low == 'never':
                self._use(part)
                self.never = True
            elif part.low == 'where':
                self.to_place = True
            elif self._is_nth(part):
                continue
            elif part.low == 'with':
                thing = self._of(part, within) or thing
            # Of two places one can be asked for: 'from the table to the shelf'.
            elif part.low in _INTO | _OUT and (not at or part.low in ('in', 'inside')):
                said = self._of(part, within)
                if part.dep == 'prt' and things and things[0].index > part.index:
                    said, thing = thing, ''  # 'took off the desk'
                self.to_place |= said is None and (part.dep != 'prt' or part.low != 'out')
                at = f'{at} in the {said}' if at and said else said or at
                if (kind == HANDLING or moved) and part.low not in ('in', 'at'):
                    kind = 'pick' if part.low in _OUT else 'place'
        return DeedQuery(kind, thing, at)

    def _of(self, part: Word, within: set[int]) -> str | None:
        """Return the name of what a preposition is about; None: of nothing that is said after it."""
        inner = [*self.tree.children(part, 'pobj'), *self.tree.about(part, 'of', 'from')]
        inner = [w for w in inner if w.index in within and not w.relates]
        if not inner or self._is_nth(inner[0]):  # 'that you dealt with first'
            return None
        if inner[0].lemma == 'order':  # which is another one than that of the day
            return ''
        name, *rooms = [self._phrase(one)[0] for one in inner[:1] + self.tree.about(inner[0], 'in')]
        return ' in the '.join([name, *filter(None, rooms)])

    def _is_nth(self, word: Word) -> bool:
        nth = None if self.tree.children(word) else ordinal(word.low)
        self.nth = self.nth if nth is None else nth
        self._use(*([word] if nth else []))
        return nth is not None

    def _measure(self, rest: Sequence[Word], *, often: bool) -> None:
        """Take what is said of the longest, the most often and so many times.

        :param often: what is the most is so
        """
        for word in (w for w in rest if w.index not in self.sides):
            one, after = self.tree.words[word.index - 1], self.tree.after(word)
            counted = after.low in ('often', 'frequently', 'times')
            if count := _TIMES.get(word.low) or (cardinal(one.low) if word.lemma == 'time' else None):
                number = word if word.low in _TIMES else one
                before = self.tree.words[number.index - 2 : number.index]
                limits = [w for w in before if w.low in ('more', 'least')]
                self.times = (count + any(w.low == 'more' for w in limits), None if limits else count)
                self._use(word, number, *limits)
            elif word.low in _LONG and one.low != 'at':
                self._use(word, *([after] if counted or after.low == 'time' else []))
                if after.low.startswith('recent'):
                    self.nth = -1
                elif counted or (often and word.low in ('most', 'least')):
                    self.often = _LONG[word.low]
                else:
                    self.order = DeedOrder.LONGEST if _LONG[word.low] > 0 else DeedOrder.SHORTEST
