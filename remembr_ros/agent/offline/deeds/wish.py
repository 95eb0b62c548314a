"""Reading a wish to be taken to what the robot did something to: 'Go to the table that you put it on'."""

import re
from dataclasses import dataclass, replace

from remembr_ros.agent.model.english import Tree, Word, parse
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.quoting import ORDINALS, TO_TWENTY, any_case
from remembr_ros.memory.deeds.query import HANDLING, DeedOrder, DeedQuery
from remembr_ros.memory.deeds.verbs import base, is_same_kind
from remembr_ros.memory.matching.terms import stem, words

_FURNITURE = frozenset(
    'table desk counter shelf fridge refrigerator drawer sofa couch bed chair cabinet cupboard dresser '
    'sideboard bookcase rack nightstand bench'.split()
)
_LIKE_THAT = {
    base(word): line.partition(': ')[2].split()
    for line in (
        'ball sphere spherical round: apple ball orange/box cube cubic boxy rectangular: box book/'
        'cylinder cylindrical: cup bottle can candle bin/'
        'drink: cup bottle glass mug/eat food: bowl plate apple fruit/play: ball teddy toy/'
        'read: book newspaper/time: clock watch/light: candle lamp/toast bread: toaster/'
        'compute work: laptop computer/flower: vase'
    ).split('/')
    for word in line.partition(': ')[0].split()
}
"""What is called so of which people say that it is shaped like that, or used for that."""
_SORTS = {
    **dict.fromkeys('object thing item article something anything everything one it'.split(), 'object'),
    **dict.fromkeys('receptacle furniture surface container'.split(), 'receptacle'),
    **dict.fromkeys('room place spot area location somewhere'.split(), 'place'),
}


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


_LEAD = any_case(
    r'^\W*(?:(?:go|drive|navigate|move|walk|head|travel|come|return|get|proceed)(?: back| over)? to'
    r'|(?:take|bring|lead|guide|escort|drive)(?: me| us)?(?: back| over)? to|(?:re)?visit|reach'
    r'|where (?:is|are)|find) (?=\S)'
)
_PLAIN = (
    (any_case(r'^where (?=(?:you|the robot)\b)'), 'the place where '),
    (any_case(r'\bthe robot\b'), 'you'),
    # The model takes 'which' for what it is from.
    (any_case(r'\b(from|with|on|onto|into|in|at) (?=(?:which|that) (?:is|are|was|were)\b)'), r'\1, '),
    (any_case(r'(?: (?:before|earlier|so far|yet|already))?\W*$'), ''),
)
_FAR = any_case(
    r',? ?(?:\b(?:and )?(?:that|which) (?:is|are|was|were|stands?|lies) (?:the )?)?'
    r'\b(?:(?P<far>farthest|furthest|most (?:distant|remote|far away))|nearest|closest)\b(?:(?: away)? (?:from|to)'
    r' (?:here|me|us|you|(?:your|the) current (?:position|place|location)|where (?:you|we|i) (?:are|am))\b)?'
    r'(?!(?: away)? (?:from|to)\b)(?: and\b)?'
)
_ORDERED = any_case(
    r',? ?\b(?:in (?!(?:the )?(?:reverse|opposite|other)\b)(?:\w+ ){0,2}order(?:(?: as)?,|\b(?! to\b).*$)'
    r'|one after the other|chronologically)'
)
_SEQUENCE = any_case(r'\W+the order to (?:re)?visit them is\b:?(?P<listed>(?:,? \w+)+)\W*$')
_OF_MANY = frozenset('all any each every one piece some'.split())
_HANDLED = frozenset('use touch handle move rearrange relocate manipulate carry interact deal'.split())
_PHASES = frozenset('start begin finish stop complete end manage'.split())
_TAKING = frozenset('take need require spend'.split())
_INTO = frozenset('to onto on into in inside upon at'.split())
_OUT = frozenset('from off out'.split())
_SIDES = {'before': 'before', 'prior': 'before', 'after': 'after', 'following': 'after', 'between': 'between'}
_RIGHT = frozenset('right just immediately directly shortly straight'.split())
_COUNTED = frozenset('interaction object thing item step action deed'.split())
_TIMES = {'once': 1, 'twice': 2, 'thrice': 3}
_LONG = {'longest': 1, 'most': 1, 'shortest': -1, 'least': -1, 'fewest': -1, 'quickest': -1}
_CONTENT = frozenset('NOUN PROPN VERB ADJ NUM'.split())


def is_furniture(name: str) -> bool:
    """Tell whether things are put on or into what is called so, whatever a log says."""
    return not _FURNITURE.isdisjoint(map(stem, words(name)[-1:]))


def read_goal(text: str) -> GoalRequest | None:
    """Return what a wish asks for; None: it is none, or one for something else.

    :param text: without politeness and words of time
    """
    listed, ordered, far = _SEQUENCE.search(text), _ORDERED.search(text), _FAR.search(text)
    plain = ' '.join(_FAR.sub(' ', _ORDERED.sub(' ', _SEQUENCE.sub('', text))).split())
    lead = _LEAD.match(plain)
    if lead is None:
        return None
    wished = plain[lead.end() :]
    for pattern, plain in _PLAIN:
        wished = pattern.sub(plain, wished)
    # The model knows sentences with a subject better than commands.
    goal = _Wish(parse(f'You go to {wished}.')).read()
    if goal is None or not (listed or ordered or far):
        return goal
    sequence = [_nth(word) for word in words(listed['listed'])] if listed else []
    choice = Choice.FARTHEST if far and far['far'] else Choice.NEAREST if far else Choice.IN_ORDER
    return replace(goal, choice=choice, sequence=tuple(nth for nth in sequence if nth))


class _Wish:
    """A wish as a tree, and how much of it is read.

    :ivar used: indices of the words that the request is about
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.used: set[int] = {0, 1, 2}
        self.nth: int | None = None
        self.order, self.often = 0, 0
        self.times: tuple[int, int | None] = (1, None)
        self.where = self.never = self.took = False
        self.more: list[str] = []
        self.any_of: list[str] = []

    def read(self) -> GoalRequest | None:
        which, goal = self._goal()
        if goal is None:
            return None
        sides, steps, beyond = self._sides(goal)
        target, sort = self._phrase(goal)
        query = self._deed(goal, beyond)
        if query is None:
            return None
        self._measures(goal, beyond, often=sort != 'place' and not self.took)
        if sort != 'place' and self.where:
            sort = 'receptacle'
        sort = sort or ('receptacle' if is_furniture(goal.low) else 'object')
        order = {1: DeedOrder.LONGEST, -1: DeedOrder.SHORTEST, 0: DeedOrder.FIRST}[self.order]
        if self.nth is None and sides.keys() == {'before'}:
            order = DeedOrder.LAST
        if self.nth is None and (len(sides) == 1 or order is not DeedOrder.FIRST):
            self.nth = steps
        query = replace(query, nth=self.nth, order=order, **sides)
        single = which in ('', 'the') and goal.tag not in ('NNS', 'NNPS')
        choice = Choice.CITED_FIRST if single else Choice.EVERY
        if which in ('a', 'an', 'any', 'some', 'one'):
            choice = Choice.NEAREST
        name = ' '.join((*self.more, target)).strip()
        return GoalRequest(
            name, sort, self.any_of, query, self.never, self.times, self.often, choice, self._unused()
        )

    def _goal(self) -> tuple[str, Word | None]:
        """Return which is to be gone to, 'all', and of what."""
        tree = self.tree
        goal = next(iter(tree.children(tree.words[2], 'pobj', 'pcomp')), None)
        which = ''
        while goal is not None:
            determined = [w.low for w in tree.children(goal, 'det', 'predet', 'quantmod')]
            which = which or next((w for w in ('all', *determined) if w in determined), '')
            inner = [of for part in tree.children(goal, 'prep') for of in tree.children(part, 'pobj')]
            if goal.lemma not in _OF_MANY or not inner:
                break
            which = goal.low if goal.lemma != 'piece' else which
            self._use(goal)
            goal = inner[0]
        return which, goal

    def _use(self, *used: Word) -> None:
        self.used.update(word.index for word in used)

    def _unused(self) -> tuple[str, ...]:
        left = (word for word in self.tree if word.index not in self.used)
        return tuple(w.low for w in left if w.pos in _CONTENT or w.dep == 'neg' or w.tag == 'MD')

    def _phrase(self, noun: Word) -> tuple[str, str]:
        """Return the words of a name, and of which sort it is, if that is all; take what else is said."""
        left = [word for word in self.tree.below(noun) if word.index < noun.index and word.pos != 'PUNCT']
        sort = _SORTS.get(noun.lemma, '')
        self._use(noun, *left)
        name: list[str] = []
        for word in left:
            nth = _nth(word.low)
            if nth is not None:
                self.nth = nth
            elif word.low in ('shaped', 'colored', 'coloured'):
                name = name if word.low != 'shaped' else self._like(name)
            elif base(word.low) in _LIKE_THAT and word.pos == 'ADJ' and sort:
                self._like([word.low])
            elif word.low.startswith('un') and word.low[2:].removesuffix('ed') in ('us', 'touch', 'visit'):
                self.never = True
            elif word.low in _LONG:
                self.used.discard(word.index)  # see _measures
            elif word.pos in _CONTENT or word.tag == 'NN':
                name.append(word.low)
        return ' '.join([*name, *([] if sort else [noun.low])]), sort

    def _like(self, use: list[str]) -> list[str]:
        self.any_of = next((_LIKE_THAT[base(w)] for w in use if base(w) in _LIKE_THAT), use)
        return []

    # Relations.
    def _sides(self, goal: Word) -> tuple[dict[str, DeedQuery], int, set[int]]:
        """Return what something was done after and before, how many deeds from that, and all words of it."""
        sides: dict[str, DeedQuery] = {}
        steps, beyond = 1, set[int]()
        for word in self.tree.words[goal.index + 1 :]:
            side = _SIDES.get(word.low)
            if side is None or word.index in beyond:
                continue
            anchors = self._anchors(word)
            if not anchors:
                continue
            self._use(word)
            beyond.update(
                w.index for anchor in anchors for w in self.tree.below(anchor) if w.index >= word.index
            )
            beyond.add(word.index)
            steps = self._steps(word, beyond)
            if side == 'between' and len(anchors) > 1:
                sides = {'after': self._anchor(anchors[0]), 'before': self._anchor(anchors[1])}
            elif side != 'between':
                sides[side] = self._anchor(anchors[0])
        return sides, steps, beyond

    def _anchors(self, word: Word) -> list[Word]:
        """Return what a word of time is about: a thing, a verb, or two of them."""
        tree = self.tree
        if word.dep in ('mark', 'advmod') and tree.head(word).pos in ('VERB', 'AUX'):
            anchor = tree.head(word)
        else:
            inner = [*tree.children(word, 'pobj', 'pcomp'), *tree.children(word, 'prep')]
            inner = [
                w
                for part in inner
                for w in (tree.children(part, 'pobj', 'pcomp') if part.low == 'to' else [part])
            ]
            if not inner:
                return []
            anchor = inner[0]
        if word.low != 'between':
            return [anchor]
        if second := tree.children(anchor, 'conj'):
            return [anchor, second[0]]
        return next(
            ([w, second[0]] for w in tree.below(anchor) if (second := tree.children(w, 'conj'))), [anchor]
        )

    def _steps(self, word: Word, beyond: set[int]) -> int:
        """Return how many deeds from that: 'three interactions before', 'right before' is one."""
        at = word.index
        if at and self.tree.words[at - 1].low in _RIGHT:
            beyond.add(at - 1)
        if at < 2 or self.tree.words[at - 1].lemma not in _COUNTED:
            return 1
        number = _number(self.tree.words[at - 2].low)
        if number is None:
            return 1
        self._use(*self.tree.words[at - 2 : at])
        beyond.update((at - 2, at - 1))
        return number

    def _anchor(self, word: Word) -> DeedQuery:
        """Return the deed that a thing or a verb names."""
        before, self.nth = self.nth, None
        if word.pos in ('VERB', 'AUX'):
            query = self._clause(word, set())
        else:
            while word.lemma == 'interaction' and (
                inner := [
                    w for part in self.tree.children(word, 'prep') for w in self.tree.children(part, 'pobj')
                ]
            ):
                self._use(word)
                word = inner[0]
            query = DeedQuery(HANDLING, self._phrase(word)[0])
        nth, self.nth = self.nth, before
        return replace(query, nth=nth)

    # What was done.
    def _deed(self, goal: Word, beyond: set[int]) -> DeedQuery | None:
        """Return what is said to have been done; what a thing is like is taken on the way. None: nothing is."""
        query, passive = DeedQuery() if self.never else None, None
        for word in self.tree.words[goal.index + 1 :]:
            inside = word.index in beyond or word.index in self.used
            if inside or word.pos not in ('VERB', 'AUX') or word.dep in ('aux', 'auxpass'):
                continue
            subjects = self.tree.children(word, 'nsubj', 'nsubjpass')
            you = any(w.low in ('you', 'we') for w in subjects)
            taken = next((w for w in self.tree.below(word)[1:] if w.lemma in _HANDLED), None)
            if self._is_like(word, you=you):
                continue
            if word.lemma in _TAKING and any(w.low in _LONG for w in self.tree.below(word)):
                if taken is not None or not you:
                    self._use(word, *([taken] if taken else []))
                    query, self.took = DeedQuery(HANDLING), True
                    continue
            others = [w for w in subjects if w.tag not in ('WDT', 'WP') and w.low != 'that']
            done = you or (not others and word.tag in ('VBN', 'VBD'))
            if query is None and you:
                query = self._clause(word, beyond)
            elif done and passive is None:
                passive = word
        return self._clause(passive, beyond) if query is None and passive is not None else query

    def _is_like(self, word: Word, *, you: bool) -> bool:
        """Tell whether a verb says what a thing is, is shaped like or used for, and take that."""
        tree = self.tree
        if word.lemma == 'be' and not you:
            said = tree.children(word, 'acomp', 'attr')
            self._use(word)
            for one in said:
                if one.tag == 'JJ':
                    self._use(one)
                    self.more.append(one.low)
            return True
        inner = [
            w
            for part in tree.children(word, 'prep')
            if part.low in ('like', 'for')
            for w in tree.children(part, 'pobj', 'pcomp')
        ]
        inner += [] if you else tree.children(word, 'xcomp')
        if word.lemma in ('shape', 'form') or (word.lemma == 'use' and inner and not you):
            said = [w for one in inner for w in tree.below(one)]
            end = next(
                (i for i, w in enumerate(said) if w.tag == 'WDT' or w.low in ('that', 'you')), len(said)
            )
            said = [w for w in said[:end] if w.pos in _CONTENT]
            self._use(word, *said)
            self._like([w.low for w in said])
            return True
        return False

    def _clause(self, verb: Word, beyond: set[int]) -> DeedQuery:
        """Return the deed that a verb and what belongs to it say; note what of it is the goal."""
        tree = self.tree
        while verb.lemma in _PHASES and (inner := tree.children(verb, 'xcomp', 'ccomp')):
            self._use(verb)
            verb = inner[0]
        kind = HANDLING if verb.lemma in _HANDLED else verb.low
        self._use(verb, *(w for w in tree.children(verb, 'aux', 'auxpass') if w.tag != 'MD'))
        thing, at = '', list[str]()
        parts = [w for w in tree.children(verb) if w.index not in beyond]
        objects = [w for w in parts if w.dep in ('dobj', 'dative', 'nsubjpass') and w.pos != 'DET']
        objects = [w for w in objects if w.tag not in ('WDT', 'WP') and w.low not in ('that', 'time')]
        for one in objects:
            if one.low not in _LONG and not any(w.low in _LONG for w in tree.below(one)):
                thing, _ = self._phrase(one)
                parts += [w for w in tree.children(one, 'prep') if w.index not in beyond]
        for part in parts:
            if part.dep == 'neg' or part.low == 'never':
                self._use(part)
                self.never = True
            elif part.low == 'where':
                self.where = True
            elif (nth := _nth(part.low)) is not None and part.dep == 'advmod':
                self._use(part)
                self.nth = nth
            elif at and part.low not in ('in', 'inside', 'at'):
                continue  # of two places one can be asked for: 'from the table to the shelf'
            elif part.dep in ('prep', 'prt', 'agent') and part.low in {'with', 'by', 'of', *_INTO, *_OUT}:
                said, sort = self._of(part, beyond)
                if part.low == 'with':
                    thing = thing or said or ''
                elif part.low != 'by' and not (part.dep == 'prt' and part.low == 'out'):
                    if said is None and not (part.dep == 'prt' and not _takes(verb)):
                        self.where = True
                    at += [said] if said else []
                    if (
                        kind == HANDLING
                        and (said is None or sort != 'place')
                        and part.low not in ('in', 'at')
                    ):
                        kind = 'pick' if part.low in _OUT else 'place'
        return DeedQuery(kind, thing, ' in the '.join(at[:2]))

    def _of(self, part: Word, beyond: set[int]) -> tuple[str | None, str]:
        """Return what a preposition is followed by, None: nothing, and its sort."""
        inner = [w for w in self.tree.children(part, 'pobj') if w.index not in beyond]
        inner = [w for w in inner if w.tag not in ('WDT', 'WP') and w.low != 'that']
        deeper = [
            w for w in self.tree.children(part, 'prep') if w.low in ('of', 'from') and w.index not in beyond
        ]
        if not inner and deeper:
            return self._of(deeper[0], beyond)
        if inner and (nth := _nth(inner[0].low)) is not None:  # 'that you dealt with first'
            self._use(inner[0])
            self.nth = nth
            return None, ''
        if not inner or any(w.low in _LONG for w in self.tree.below(inner[0])):
            return None if not inner else '', ''
        name, sort = self._phrase(inner[0])
        more = [
            w for w in self.tree.children(inner[0], 'prep') if w.low in ('in', 'of') and w.index not in beyond
        ]
        for one in more:
            room, _ = self._of(one, beyond)
            name = f'{name} in the {room}' if room else name
        return name, sort

    # How long and how often.
    def _measures(self, goal: Word, beyond: set[int], *, often: bool) -> None:
        """Take what is said of the longest, the most often and so many times."""
        listed = self.tree.words
        for word in listed:
            after = listed[word.index + 1].low if word.index + 1 < len(listed) else ''
            if word.index in beyond or word.index in self.used:
                continue
            many = after in ('often', 'frequently', 'times')
            if word.low in _LONG and (
                many or (often and word.low in ('most', 'least') and after in ('', '.'))
            ):
                self._use(word, *([listed[word.index + 1]] if many else []))
                self.often = _LONG[word.low]
            elif word.low in _LONG and after.startswith('recent'):
                self._use(word, listed[word.index + 1])
                self.nth = -1
            elif word.low in _LONG:
                self._use(word, *([listed[word.index + 1]] if after == 'time' else []))
                self.order = _LONG[word.low]
            elif word.low in _TIMES:
                self._use(word)
                self._so_often(_TIMES[word.low], word)
            elif word.lemma == 'time' and (count := _number(listed[word.index - 1].low)):
                self._use(word, listed[word.index - 1])
                self._so_often(count, listed[word.index - 1])

    def _so_often(self, count: int, word: Word) -> None:
        said = {w.low for w in self.tree.words[max(word.index - 2, 0) : word.index]}
        self._use(
            *(w for w in self.tree.words[max(word.index - 2, 0) : word.index] if w.low in ('more', 'least'))
        )
        self.times = (
            (count + 1, None) if 'more' in said else (count, None) if 'least' in said else (count, count)
        )


def _takes(verb: Word) -> bool:
    return any(is_same_kind(verb.low, kind) for kind in ('pick', 'place'))


def _nth(word: str) -> int | None:
    """Return which one a word says, -1: the last; None: it says none."""
    if word in ('last', 'latest', 'final'):
        return -1
    if word in ORDINALS:
        return ORDINALS.index(word) + 1
    found = re.fullmatch(r'(\d+)(?:st|nd|rd|th)', word)
    return int(found[1]) if found else None


def _number(word: str) -> int | None:
    return int(word) if word.isdigit() else TO_TWENTY.index(word) if word in TO_TWENTY else None
