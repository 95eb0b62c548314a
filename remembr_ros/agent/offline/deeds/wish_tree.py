"""What a wish about deeds asks for, read from the tree of its sentence: which thing, and what was done."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from remembr_ros.agent.model.english import Tree, Word
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.quoting import cardinal, ordinal
from remembr_ros.agent.offline.deeds.sides import Side, find_sides
from remembr_ros.agent.offline.word_classes import classes_of, word_class
from remembr_ros.memory.deeds.query import HANDLING, DeedOrder, DeedQuery
from remembr_ros.memory.deeds.verbs import base
from remembr_ros.memory.matching.terms import stem, words


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


_HANDLED = frozenset(
    map(base, 'use touch handle move rearrange relocate manipulate carry interact deal dealt'.split())
)
_PHASES = frozenset('start begin finish stop end'.split())
_TAKING = frozenset('take need spend'.split())
_MOVED = frozenset(map(base, 'move rearrange relocate'.split()))
_INTO = frozenset('to onto on into in inside upon at'.split())
_OUT = frozenset('from off out'.split())
_COUNTED = frozenset('interaction object thing item step action deed'.split())
_TIMES = {'once': 1, 'twice': 2, 'thrice': 3}
_LONG = {'longest': 1, 'most': 1, 'shortest': -1, 'least': -1, 'fewest': -1, 'quickest': -1}
_RELATIVE = ('WDT', 'WP')
LIKE_THAT = classes_of('like', base)
"""What is called so of which people say that it is shaped like that, or used for that."""
SORTS = {word: sort for sort in ('object', 'receptacle', 'place') for word in word_class(f'sort {sort}')}


def is_furniture(name: str) -> bool:
    """Tell whether things are put on or into what is called so, whatever a log says."""
    return not word_class('furniture').isdisjoint(map(stem, words(name)[-1:]))


class WishTree:
    """A wish, 'You go to ...', as a tree, and what is read of it.

    :ivar used: indices of the words that the request is about
    :ivar sides: of those that say after and before what it was done
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.used, self.sides = {0, 1, 2}, set[int]()
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
        query = self._deed(rest)
        if query is None:
            return None
        if self.never and self.times != (1, None):
            self.used -= {w.index for w in rest if w.low in _TIMES}  # 'not twice' may be once, or never
        sort = 'receptacle' if self.to_place and sort != 'place' else sort
        sort = sort or ('receptacle' if is_furniture(goal.low) else 'object')
        order = self.order
        if self.nth is None and related.keys() == {'before'}:
            order = DeedOrder.LAST
        if self.nth is None and (len(related) == 1 or order is not DeedOrder.FIRST):
            self.nth = steps
        after, before = related.get('after'), related.get('before')
        query = replace(query, nth=self.nth, order=order, after=after, before=before)
        one = which in ('', 'the') and goal.tag not in ('NNS', 'NNPS')
        choice = Choice.CITED_FIRST if one else Choice.EVERY
        if which in ('a', 'an', 'any', 'some', 'one'):
            choice = Choice.NEAREST
        name = ' '.join((*self.like, name)).strip()
        told = (w for w in self.tree if w.tells or w.low in _TIMES)
        unused = tuple(w.low for w in told if w.index not in self.used)
        return GoalRequest(name, sort, self.any_of, query, self.never, self.times, self.often, choice, unused)

    def _use(self, *used: Word) -> None:
        self.used.update(word.index for word in used)

    def _goal(self) -> tuple[str, Word | None]:
        """Return which is to be gone to, 'all', and of what."""
        tree, which = self.tree, ''
        goal = next((w for to in tree.words[2:3] for w in tree.children(to, 'pobj', 'pcomp')), None)
        while goal is not None:
            said = [w.low for w in tree.children(goal, 'det', 'predet')]
            which = which or ('all' if 'all' in said else next(iter(said), ''))
            inner = tree.about(goal)
            if goal.lemma not in ('all', 'any', 'each', 'every', 'one', 'piece', 'some') or not inner:
                break
            which = which if goal.lemma == 'piece' else goal.low
            self._use(goal)
            goal = inner[0]
        return which, goal

    def _phrase(self, noun: Word) -> tuple[str, str]:
        """Return the words of a name, and of which sort it is, if that is all; take what else is said."""
        left = [word for word in self.tree.below(noun) if word.index < noun.index and word.pos != 'PUNCT']
        sort, name = SORTS.get(noun.lemma, ''), list[str]()
        self._use(noun, *left)
        for word in left:
            if (nth := ordinal(word.low)) is not None:
                self.nth = nth
            elif word.low == 'shaped' or (sort and word.tag.startswith('JJ') and base(word.low) in LIKE_THAT):
                self._is_like(name if word.low == 'shaped' else [word.low])
                name = []
            elif word.low.startswith('un') and base(word.low[2:]) in {*_HANDLED, base('visit')}:
                self.never = True
            elif word.tells and word.low not in ('colored', 'coloured'):
                name.append(word.low)
        return ' '.join([*name, *([] if sort else [noun.low])]), sort

    def _is_like(self, said: list[str]) -> None:
        self.any_of = next((LIKE_THAT[base(word)] for word in said if base(word) in LIKE_THAT), said)

    def _related(self, goal: Word) -> tuple[dict[str, DeedQuery], int]:
        """Return what something was done after and before, and how many deeds from that."""
        related, steps = dict[str, DeedQuery](), 1
        for side in find_sides(self.tree):
            if side.name not in ('after', 'before') or side.start <= goal.index:
                continue
            start = side.start
            number, counted = self.tree.words[start - 2 : start]
            if counted.lemma in _COUNTED and (count := cardinal(number.low)):
                steps, start = count, start - 2  # 'three interactions before'
            self.sides.update(range(start, side.stop))
            self._use(*self.tree.words[start : side.said[0].index])
            related[side.name] = self._anchor(side)
        return related, steps

    def _anchor(self, side: Side) -> DeedQuery:
        """Return the deed that a thing or a verb names."""
        self.nth = None
        if side.anchor.tag.startswith('VB'):
            query = self._clause(side.anchor, {w.index for w in side.said})
        else:
            inner = self.tree.about(side.anchor) if side.anchor.lemma == 'interaction' else []
            self._use(side.anchor, *(w for w in side.said if base(w.low) in _HANDLED))
            query = DeedQuery(HANDLING, self._phrase((inner or [side.anchor])[0])[0])
        return replace(query, nth=self.nth)

    def _deed(self, rest: Sequence[Word]) -> DeedQuery | None:
        """Return what is said to have been done, and take what the thing is said to be; None: nothing is."""
        query, passive = (DeedQuery() if self.never else None), None
        within = {w.index for w in rest} - self.sides - self.used
        for word in rest:
            if word.index not in within - self.used or not word.tag.startswith('VB') or 'aux' in word.dep:
                continue
            subjects = self.tree.children(word, 'nsubj', 'nsubjpass')
            you = any(w.low in ('you', 'we') for w in subjects)
            done = [w for w in self.tree.below(word)[1:] if base(w.low) in _HANDLED and w.index in within]
            if not you and self._says_like(word):
                continue
            if word.lemma in _TAKING and self.order is not DeedOrder.FIRST and (done or not you):
                self._use(word, *done[:1])
                query = DeedQuery(HANDLING)
            elif you and query is None:
                query = self._clause(word, within)
            elif word.tag in ('VBN', 'VBD') and all(
                w.tag in _RELATIVE or w.low == 'that' or w.dep == 'nsubjpass' for w in subjects
            ):
                passive = passive or word
        return self._clause(passive, within) if query is None and passive is not None else query

    def _says_like(self, verb: Word) -> bool:
        """Tell whether a verb says what a thing is, is shaped like or used for, and take that."""
        tree = self.tree
        if verb.lemma == 'be':
            said = [w for w in tree.children(verb, 'acomp', 'attr') if w.tag == 'JJ']
            self._use(verb, *said)
            self.like += [w.low for w in said]
            return True
        inner = [*tree.about(verb, 'like', 'for'), *tree.children(verb, 'xcomp')]
        if verb.lemma not in ('shape', 'form', 'use') or not inner:
            return False
        said = list(takewhile(lambda w: w.tag not in _RELATIVE and w.low != 'that', tree.below(inner[0])))
        self._use(verb, *said)
        self._is_like([w.low for w in said])
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
        kind, thing, at = HANDLING if base(verb.low) in _HANDLED else verb.low, '', ''
        if base(verb.low) in _MOVED and self.order is DeedOrder.FIRST:
            kind = 'place'  # each time that it was put somewhere
        parts = [w for w in tree.children(verb) if w.index in within]
        things = [w for w in parts if w.dep in ('dobj', 'nsubjpass') and w.tag not in _RELATIVE]
        for one in (w for w in things if w.low not in ('that', 'you')):
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
            elif part.low in _INTO or part.low in _OUT:
                if at and part.low not in ('in', 'inside'):
                    continue  # of two places one can be asked for: 'from the table to the shelf'
                said = self._of(part, within)
                if part.dep == 'prt' and things and things[0].index > part.index:
                    said, thing = thing, ''  # 'took off the desk'
                self.to_place |= said is None and (part.dep != 'prt' or part.low != 'out')
                at = f'{at} in the {said}' if at and said else said or at
                if (kind == HANDLING or base(verb.low) in _MOVED) and part.low not in ('in', 'at'):
                    kind = 'pick' if part.low in _OUT else 'place'
        return DeedQuery(kind, thing, at)

    def _of(self, part: Word, within: set[int]) -> str | None:
        """Return the name of what a preposition is about; None: of nothing that is said after it."""
        inner = [*self.tree.children(part, 'pobj'), *self.tree.about(part, 'of', 'from')]
        inner = [w for w in inner if w.index in within and w.tag not in _RELATIVE and w.low != 'that']
        if not inner or self._is_nth(inner[0]):  # 'that you dealt with first'
            return None
        if inner[0].lemma == 'order':  # which is another one than that of the day
            return ''
        name, _ = self._phrase(inner[0])
        rooms = [self._phrase(room)[0] for room in self.tree.about(inner[0], 'in') if room.index in within]
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
        for word in rest:
            one = self.tree.words[word.index - 1]
            after = self.tree.words[min(word.index + 1, len(self.tree.words) - 1)]
            count = _TIMES.get(word.low) or (cardinal(one.low) if word.lemma == 'time' else None)
            if word.index in self.sides:
                continue
            if count:
                number = word if word.low in _TIMES else one
                before = {w.low: w for w in self.tree.words[number.index - 2 : number.index]}
                more, least = before.get('more'), before.get('least')
                self.times = (count + (more is not None), None) if more or least else (count, count)
                self._use(word, number, *filter(None, (more, least)))
            elif word.low in _LONG and one.low != 'at':
                many, late = after.low in ('often', 'frequently', 'times'), after.low.startswith('recent')
                self._use(word, *([after] if many or late or after.low == 'time' else []))
                if many or (often and word.low in ('most', 'least') and not late and after.low != 'time'):
                    self.often = _LONG[word.low]
                elif late:
                    self.nth = -1
                else:
                    self.order = DeedOrder.LONGEST if _LONG[word.low] > 0 else DeedOrder.SHORTEST
