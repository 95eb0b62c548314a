"""Which of the names and verbs of a robot's deeds a phrase says, so that its query needs no list of words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.query import FIELDS, DeedQuery, Occurrence
from remembr_ros.memory.deeds.verbs import PARTICLES, base, is_form, is_same_kind, verb_of
from remembr_ros.memory.matching.terms import STOP_WORDS, stem, synonyms, words

_INTO = frozenset('from off in into on onto inside to at out within under behind by'.split())
_ARTICLES = frozenset('the a an my your our his her its their this that these those some any'.split())
_BEFORE_NOUN = _ARTICLES | _INTO | frozenset('with for about of'.split())
_WHO = frozenset('i you we they he she it to have has had did'.split())
_SAYING = frozenset('up down out away off'.split())  # 'set down' says more than 'set'
WEAK = frozenset(
    'go take get have do make give ask find set show tell say name turn run try use need want call begin '
    'start stop look keep spend cover come see return move travel drive mean walk'.split()
)
"""Verbs that mostly help another word: they count where no other verb is said."""
_WEAK = frozenset(map(base, WEAK))
PLAIN = STOP_WORDS.union(
    'able abort aborted action actions activities activity actual actually added afterwards already '
    'altogether amount anybody anyone anywhere around attempt attempted attempts average averaged away '
    'beforehand behind beside breakdown brief briefest briefly cancel canceled cancelled cause caused '
    'closest count current currently date dates day days deed deeds detail details didn different '
    'difficulties difficulty directly distance distinct doesn don during earliest eight eighth eleven '
    'encounter encountered entire error errors event events ever everything exactly fail failed failing '
    'fails failure failures far farthest fewer fifth figure final five foot found four fourth furthest '
    'generally hand handle handled handling hands happen happened happens hasn haven having held '
    'highlight highlights hold holding home hour hours house im immediately isn issue issues item items '
    'itself job jobs just kilometres kind kinds know latest least length less list ll located location '
    'longer longest looked looking manage managed marked mean meter meters metre metres minute minutes '
    'moment moments month months myself named nearby nearest never next nine ninth normally notice '
    'noticed number object objects observe observed often opposite order own part parts people person '
    'piece pieces place places position previous problem problems quickest re reach reached readable '
    'reads really reason reasons recent refuse refused remain remained right room rooms route saying '
    'second seconds seeing separate seven seventh short shorter shortest since single six sixth slowest '
    'somebody someone somewhere sort spend spent spot spotted stay stayed step steps still stood straight '
    'stuff succeed succeeded success successful successfully sum summarise summarize summary taken takes '
    'taking tally task tasks ten tenth then thing think third three times titled together took total '
    'touch touched tried tries trouble troubles try trying twelve two typically unable unsuccessful '
    'unsuccessfully use usually vain various ve version visible visit visited wait waited wasn way week '
    'weeks weren whereabouts whole won writing written wrong year yet yourself'.split()
)
"""Words that name no deed, nor anything that it was done to."""


@dataclass(frozen=True, slots=True)
class DeedPhrase:
    """What a phrase says of deeds.

    :param kind: one of those that there are, or another verb; empty: none is said
    :param weak: that verb may only help another word
    :param names: what it names, each with the field that it is meant for; '' is any
    :param unknown: nouns that no deed has
    """

    kind: str = ''
    weak: bool = False
    names: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def says_nothing(self) -> bool:
        return not (self.names or self.unknown or (self.kind and not self.weak))

    def of(self, name: str) -> list[str]:
        """Return the names that are meant for a field."""
        return [name_said for name_said, field_name in self.names if field_name == name]

    def query(self, *, loose: bool = False, bare: bool = False) -> DeedQuery:
        """Return what is asked for by it.

        :param loose: a name may be that of anything in the deed, and a verb that only helps is none
        :param bare: only what is the name of a thing or of a place counts
        """
        object_, receptacle, place = ('' if loose else next(iter(self.of(name)), '') for name in FIELDS)
        own = {(object_, 'object'), (receptacle, 'receptacle'), (place, 'place')}
        rest = [text for text, name in self.names if (text, name) not in own and (name or not bare)]
        kind = '' if loose and self.weak else self.kind
        return DeedQuery(kind, object_, receptacle, place, attribute=' '.join(rest))


@dataclass
class DeedNames:
    """The kinds and names of some deeds.

    :param done: deeds, of any time
    :param others: names of things and places that the memory knows apart from deeds, each with its field
    """

    done: Sequence[Occurrence]
    others: Sequence[tuple[str, str]] = ()
    kinds: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = frozenset(deed.facts.kind for deed in self.done) - {'', 'fail'}  # which is how it ended
        self._fields: dict[tuple[str, ...], set[str]] = {}
        self._words: set[str] = set()
        names = {(name, getattr(deed.facts, name)) for deed in self.done for name in FIELDS}
        for name, text in (*names, *((name, text) for text, name in self.others)):
            if key := tuple(map(stem, words(text))):
                self._fields.setdefault(key, set()).add(name)
        self._of_names = {word for key in self._fields for word in key}
        for caption in {deed.memory.caption for deed in self.done}:
            self._words.update(map(base, words(caption)))
        self._longest = max(map(len, self._fields), default=0)

    def read(self, text: str) -> DeedPhrase:
        """Return what a phrase says."""
        spoken = words(text)
        free = [True] * len(spoken)
        names = self._names(spoken, free)
        kind, weak = self._verb(spoken, free)
        left = {i for i, is_free in enumerate(free) if is_free and _tells(spoken[i])}
        known = {i for i in left if base(spoken[i]) in self._words}
        names += [(spoken[i], '') for i in sorted(known)]
        unknown = []
        for clause in _spans(text):
            # 'Out of curiosity, how often did you wave?' is about waves alone.
            if any(not free[i] or i in known for i in clause) or len(clause) == len(spoken):
                unknown += [
                    spoken[i] for i in clause if i in left - known and spoken[max(i - 1, 0)] in _BEFORE_NOUN
                ]
        return DeedPhrase(kind, weak, tuple(dict.fromkeys(names)), tuple(unknown))

    def knows(self, word: str) -> bool:
        """Tell whether a word is of a name, or says a kind of deed."""
        if stem(word) in self._of_names or base(word) in self._words:
            return True
        return any(is_same_kind(word, kind) or is_form(word, kind) for kind in self.kinds)

    def meant(
        self, phrase: DeedPhrase, *, exactly: bool = False, outcomes: tuple[str, ...] = ()
    ) -> DeedQuery | None:
        """Return the query of a phrase that some deed fits, whenever that was; None: none does.

        :param exactly: with all of its words
        :param outcomes: rather one that ended so
        """
        queries = [phrase.query(), phrase.query(loose=True)]
        if not exactly:
            things = [DeedQuery('' if phrase.weak else phrase.kind, name) for name in phrase.of('object')[:1]]
            queries += [phrase.query(bare=True), phrase.query(loose=True, bare=True), *things]
        queries = [query for query in queries if not query.names_nothing]
        for ended in dict.fromkeys((outcomes, ())):
            for query in queries:
                if choose_deeds(replace(query, outcomes=ended), lambda _: self.done).found:
                    return query
        return None

    def _names(self, spoken: Sequence[str], free: list[bool]) -> list[tuple[str, str]]:
        stems = list(map(stem, spoken))
        found: list[tuple[int, str, str]] = []
        for length in range(min(self._longest, len(spoken)), 0, -1):
            for start in range(len(spoken) - length + 1):
                span = range(start, start + length)
                fields = self._named(stems[start : start + length]) if all(free[i] for i in span) else None
                follows = spoken[start + 1] if start + 1 < len(spoken) else ''
                verb = length == 1 and (
                    spoken[start] in PLAIN or spoken[max(start - 1, 0)] in _WHO or follows in _SAYING
                )
                if fields and not verb:
                    for i in span:
                        free[i] = False
                    found.append((start, ' '.join(spoken[i] for i in span), _role(spoken, start, fields)))
        found.sort()
        return [(name, role) for _, name, role in found]

    def _named(self, stems: Sequence[str]) -> set[str]:
        """Return of which fields these words are a name, or a word of one."""
        exact = self._fields.get(tuple(stems))
        if exact or len(stems) > 1:
            return exact or set()
        same = {stems[0], *synonyms(stems[0])}
        return {
            name for key, fields in self._fields.items() if not same.isdisjoint(key[-1:]) for name in fields
        }

    def _verb(self, spoken: Sequence[str], free: list[bool]) -> tuple[str, bool]:
        """Return the kind that is said, of several that which says most, and whether it may be none."""
        best: tuple[tuple[int, int], str, list[int], bool] | None = None
        for same, usual in ((is_form, False), (is_same_kind, True)):
            for kind in self.kinds:
                verb = verb_of(kind)
                cut = usual and len(verb) == 2 and verb[1] in PARTICLES and base(verb[0]) not in _WEAK
                if cut:
                    verb = verb[:1]  # 'handed it to him' for hand over
                at = [
                    next(
                        (
                            i
                            for i, w in enumerate(spoken)
                            if free[i]
                            and same(w, part)
                            and (not cut or w not in PLAIN)
                            and not (usual and spoken[max(i - 1, 0)] in ('the', 'a'))  # 'the lift'
                        ),
                        -1,
                    )
                    for part in verb
                ]
                if not verb or min(at) < 0:
                    continue
                follows = spoken[at[0] + 1] if at[0] + 1 < len(spoken) else ''
                weak = len(verb) == 1 and base(spoken[at[0]]) in _WEAK and follows not in _SAYING
                rank = 4 * (not weak) + 2 * (not usual) + len(verb)
                if best is None or (rank, -at[0]) > best[0]:
                    # A usual word for several kinds stays as it is said: the query knows them all.
                    best = ((rank, -at[0]), spoken[at[0]] if usual else kind, at, weak)
        if best is None:
            return '', False
        for i in best[2]:
            free[i] = False
        return best[1], best[3]


def _spans(text: str) -> list[range]:
    """Return which words each clause of a text has."""
    found, at = [], 0
    for clause in re.split(r'[,.;:!?\u2013\u2014]\s+|\s+-\s+', text):
        found.append(range(at, at + len(words(clause))))
        at = found[-1].stop
    return found


def _tells(word: str) -> bool:
    return not (word in PLAIN or word in PARTICLES or base(word) in _WEAK or word.isdigit())


def _role(spoken: Sequence[str], start: int, fields: set[str]) -> str:
    """Return which field a name is meant for, by the word before it."""
    at = start - 1
    while at >= 0 and spoken[at] in _ARTICLES:
        at -= 1
    before = spoken[at] if at >= 0 else ''
    if before == 'of' and at > 0 and spoken[at - 1] == 'out':
        before = 'out'
    if before in _INTO:
        return next((name for name in ('receptacle', 'place', 'object') if name in fields), '')
    return next((name for name in ('object', 'place', 'receptacle') if name in fields), '')
