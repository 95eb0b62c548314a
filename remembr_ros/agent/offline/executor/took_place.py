"""What took place of that which a simple question names: deeds, stays, motion, objects, sights."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.answer_text import EVEN
from remembr_ros.agent.model.english import Word, parse
from remembr_ros.agent.model.matching import is_colour
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.model.relevance_model import as_good_as_best, find_sightings
from remembr_ros.agent.model.same_place import span
from remembr_ros.agent.offline.named_scope import named_in
from remembr_ros.agent.offline.not_seen import SURE
from remembr_ros.agent.offline.question_terms import target_of
from remembr_ros.agent.offline.reader.deed_request import (
    MOVED,
    SEEN,
    DeedAsked,
    DeedRequest,
    build_deed_query,
    parse_deeds,
)
from remembr_ros.agent.offline.reader.object_request import parse_object_request
from remembr_ros.agent.offline.request import parse_request
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.agent.overview.listing import listing
from remembr_ros.agent.times.time_window import Window, parse_window
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.deed import DeedFacts, Outcome
from remembr_ros.memory.deeds.names import DeedNames, DeedPhrase
from remembr_ros.memory.deeds.occurrences import OccurrenceSource
from remembr_ros.memory.deeds.query import MOVES, SIGHT, STAY, DeedQuery, Occurrence, is_named, is_said
from remembr_ros.memory.deeds.verbs import base, is_same_kind, verb_of
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.memory.objects.query import FoundObject, ObjectQuery
from remembr_ros.memory.objects.wording import described
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock

_ENDED = any_case(
    r'(?P<no>\b(?:not|never)\s)?'
    r'(?:\b(?:fail(?:ed|s|ures?)?|(?:go|went|gone|going) wrong|problems?|trouble|cancel(?:led|ed)?|aborted)\b'
    r'|(?P<well>\b(?:able to|manage(?:d)?(?: to)?|succeed(?:ed)?|(?:go|went) well|work(?:ed)?(?= out|$))\b))'
)
_TAKES = any_case(r'\b(?:usually )?(?:take|took|taken|last|lasted|need|needed)\b')
_DEEDS = any_case(r'^\W*(?:how many|which|what) (?:deeds|tasks|jobs|actions)\b')
_NOUN = any_case(r'^\W*(?:which|what|how many|the|your) (\w+)')
_ALL = 1_000  # sightings that are counted
_SELF = frozenset(('you', 'we', 'robot', 'your'))
_DOING = frozenset(('nsubj', 'nsubjpass', 'poss', 'csubj'))
_DO = frozenset('do happen have be get deed'.split())  # the model takes 'which deeds' for a verb
_AROUND = ('around', 'about', 'along')
_BE = frozenset('be have lie stand contain hold'.split())
_CONTENT = frozenset(('NOUN', 'PROPN', 'ADJ', 'VERB', 'NUM'))
_STAYED = any_case(
    r'\b(?:were|was|been|be|stay(?:ed)?|spen[dt]|visit(?:ed)?|enter(?:ed)?|go|went|gone|come|came|inside)\b'
)
_SPENT = any_case(r'\b(?:spen[dt]|stay(?:ed)?)\b')
_MOVES = (
    (any_case(r'\b(?:drives?|drove|driven|driving|trips?)\b'), 'driving'),
    (any_case(r'\b(?:stop|stops|stopped|stand|stood|wait|waited|pause|paused|park|parked)\b'), 'standing'),
    (any_case(r'\bturn(?:ed|s)? left\b|\bleft turns?\b'), 'turning left'),
    (any_case(r'\bturn(?:ed|s)? right\b|\bright turns?\b'), 'turning right'),
    (any_case(r'\bturn(?:ed|s)?\b'), 'turning'),
)
_ASKS = any_case(
    r'^\W*(?:(?:which|what|how (?:many|often|long|far|much)|list|count|name)(?: time)?|is|are|was|were|did|do'
    r'|does|has|have|had)\b'
    r'(?: (?:is|are|was|were|there|any))*'
)


@dataclass(frozen=True, slots=True)
class Selection:
    """What took place.

    :param by: which way to answer knows of it: deeds, places, motion, objects, sights
    :param sure: how surely it is what was named
    :param unknown: words that nothing known has
    :param known: words that it has
    """

    occurrences: Sequence[Occurrence]
    by: str
    sure: float = SURE
    unknown: Sequence[str] = ()
    known: Sequence[str] = ()


def listed(question: Question, occurrences: Iterable[Occurrence]) -> str:
    """Return when some began, and what they were."""
    return '; '.join(f'{format_clock(one.start_ns, question.zone)[:16]} {_said(one)}' for one in occurrences)


def _said(one: Occurrence) -> str:
    """Return what something was; of a motion the memory says what was in view."""
    if one.facts.kind == STAY:
        return f'In {one.where}'
    told = one.memory.caption if one.memory.source == AGENT else one.facts.text or one.memory.caption
    return told.rstrip('.')


def _ended(text: str) -> tuple[Outcome, ...]:
    """Return how deeds ended that a text is about; none: however."""
    found = _ENDED.search(text)
    if found is None:
        return ()
    good = bool(found['well']) != bool(found['no'])
    failed: tuple[Outcome, ...] = ('failed',) if 'fail' in found[0].lower() else ('failed', 'cancelled')
    return ('succeeded', 'unknown') if good else failed


def as_occurrence(memory: Memory) -> Occurrence:
    """Return a memory as something that took place."""
    return Occurrence(memory.start_ns, memory.end_ns, DeedFacts(), (memory,))


class TookPlace:
    """Finds what took place of that which simple questions name.

    :param scope: the time, the robots and the map that count
    """

    def __init__(self, question: Question, recall: Recall, scope: Scope) -> None:
        self.question, self.recall, self.scope = question, recall, scope
        self.source = OccurrenceSource(recall)

    @cached_property
    def done(self) -> Sequence[Occurrence]:
        """All deeds of the robots, whenever."""
        return self.source.deeds(replace(self.scope, after_ns=None, before_ns=None))

    @cached_property
    def names(self) -> DeedNames:
        return DeedNames(
            self.done, [(name, 'place') for place in self.source.places.all for name in place.names]
        )

    def of(self, text: str) -> Selection | None:
        """Return what took place of that which a text names, in the time that it names; None: nothing that is
        known is named."""
        if (window := self.window(text)) is not None:
            scope = self.scope.within(window.after_ns, window.before_ns)
            told = TookPlace(self.question, self.recall, scope).of(window.rest) if scope else None
            left = words(window.rest)
            return told and replace(told, known=(*told.known, *(w for w in words(text) if w not in left)))
        ways = [self._deeds, self._stays, self._moves, self._objects, self._sights]
        if self._says_what_is(text):
            ways.insert(0, ways.pop(3))
        elif _SPENT.search(text):
            ways.insert(0, ways.pop(1))
        return next((told for way in ways if (told := way(text)) is not None), None)

    def window(self, text: str) -> Window | None:
        """Return the time that a text names, of itself; None: it names none."""
        window = parse_window(text, self.question.now_ns, self.question.zone)
        timed = not window.unclear and (window.after_ns, window.before_ns) != (None, None)
        return window if timed else None

    def _says_what_is(self, text: str) -> bool:
        """Tell whether a text is about what there is, and not about what was done."""
        verbs = {word.lemma for word in parse(text) if word.pos in ('VERB', 'AUX')}
        return _SELF.isdisjoint(words(text)) and verbs <= _BE

    def place(self, text: str) -> NamedPlace | None:
        """Return the named place that a text names."""
        known, called = self.question.places.all, target_of(text)
        found = [place for _, place in named_in(text, known)]
        if not found and (long := len(words(called))):  # 'the lab' of the laboratory
            found = [one for one in known if len(words(one.name)) == long and is_named(called, one.name)]
        return found[0] if found else None

    def things(self, text: str) -> Sequence[FoundObject]:
        """Return the objects that a text names."""
        asked = parse_object_request(parse_request(f'{text}?', 0))
        if asked is None or asked.thing or not asked.relation:  # and not 'what is on the table'
            asked = parse_object_request(parse_request(f'How many {_ASKS.sub("", text)}?', 0))
        if asked is None or not (asked.thing or asked.relation):
            return ()
        place = self.place(text)
        thing, scope = asked.thing, replace(self.scope, after_ns=None, before_ns=None)
        if place is not None:
            scope = replace(scope, place=place.name, map_id=place.memory.map_id)
            named = {word for name in place.names for word in words(name)}
            thing = ' '.join(word for word in words(thing) if word not in named)
        relation, anchor = (asked.relation, asked.anchor) if place is None else ('', '')
        colour = thing if is_colour(thing) else ''
        query = ObjectQuery('' if colour else thing, relation=relation, anchor=anchor, scope=scope)
        found = self.recall.find_objects(query).objects
        return [item for item in found if colour in ('', item.known.facts.colour)]

    def _deeds(self, text: str) -> Selection | None:
        ended, plain = _ended(text), _ENDED.sub(' ', text)
        asked = parse_deeds(plain) if self.done and not SEEN.search(text) else None
        if asked is None:
            return None
        tree = parse(text)
        own = any(word.low in _SELF and word.dep in _DOING for word in tree) or bool(_DEEDS.match(text))
        if not (own or ended or self.names.read(asked.main).kind) and self._says_what_is(text):
            return None  # what there is no deed tells
        if not own:  # 'the drive to ward 3 took'
            asked = replace(asked, main=_TAKES.sub(' ', asked.main))
        phrase = self.names.read(asked.main)
        query = self._query(text, asked, phrase, own=own, ended=bool(ended))
        if query is None or (query.names_nothing and not phrase.says_nothing):
            return None
        # 'Driving' is a deed here, and no motion.
        kind = f'{query.kind.removesuffix("ing")}e' if query.kind in MOVES else query.kind
        query = replace(query, kind=kind, nth=None, limit=None, never='', right=False, scope=self.scope)
        every = choose_deeds(replace(query, outcomes=ended or query.outcomes), self.source).every
        if not every and not phrase.kind:  # 'hand it to Paula', which is no pick and no place
            every = choose_deeds(replace(query, kind='', outcomes=ended or query.outcomes), self.source).every
        if not (own or query.kind):  # 'Viktor wanted to know the time': of what was said of him that
            more = [
                w.low for w in parse(plain) if w.pos in ('NOUN', 'VERB') and w.low not in words(query.says)
            ]
            more = [word for word in more if any(is_said(word, deed.told) for deed in every)]
            every = tuple(deed for deed in every if all(is_said(word, deed.told) for word in more))
        known = [word for word in words(text) if self.names.knows(word)]
        known += [word for found in _ENDED.finditer(text) for word in words(found[0])]
        telling = [w for w in tree if w.pos in _CONTENT and w.low[:1].isalnum()]
        unknown = [w.low for w in telling if not self._is_known(w, query, known)]
        return Selection(every, 'places' if query.kind == STAY else 'deeds', SURE, unknown, known)

    def _query(
        self, text: str, asked: DeedRequest, phrase: DeedPhrase, *, own: bool, ended: bool
    ) -> DeedQuery | None:
        """Return the query of the deeds that a text names; None: it names none.

        :param own: it is about the robot
        :param ended: it is about how they ended
        """
        noun = _NOUN.match(text)
        of_noun = noun is not None and is_same_kind(noun[1].lower(), phrase.kind)  # 'which drives'
        if not (own or ended or phrase.names or (phrase.kind and (of_noun or not phrase.weak))):
            return None
        said = [name for name, _ in phrase.names if name not in _AROUND]
        if own and MOVED.search(text) and not (said or phrase.unknown):
            # Whatever was moved was put down; what was handed over has a kind of its own.
            verbs = {base(word.low) for word in parse(text) if word.pos == 'VERB'}
            kinds = [kind for kind in self.names.kinds if base(verb_of(kind)[0]) in verbs]
            return DeedQuery(kinds[0] if kinds else 'place')
        if phrase.kind and not own and not said and (of_noun or ended or not phrase.weak):
            return DeedQuery(phrase.kind)  # 'driving failed', 'which drives took', 'was watered'
        request = parse_request(text, self.question.now_ns, self.question.zone)
        whatever = {word.lemma for word in parse(asked.says) if word.pos == 'VERB'} <= _DO
        strictly = own if phrase.names or phrase.kind else not whatever  # else all deeds are meant
        what = DeedAsked.WHETHER if strictly else DeedAsked.HIGHLIGHTS
        simple = replace(asked, asked=what, yes=True)
        query = build_deed_query(simple, self.names, request, self.question, self.scope)
        if query is None and own and phrase.kind and not (said or phrase.unknown):
            return DeedQuery(phrase.kind)  # 'how far did you drive'
        return query

    def _is_known(self, word: Word, query: DeedQuery, known: Sequence[str]) -> bool:
        """Tell whether a word of a question about deeds is a name or a kind in them, or only asks."""
        if word.low in known or word.lemma in word_class('common') | word_class('of_deeds'):
            return True
        stayed = query.kind == STAY and _STAYED.search(word.low) is not None
        return stayed or (query.kind != '' and is_same_kind(word.low, query.kind))

    def _stays(self, text: str) -> Selection | None:
        place = self.place(text)
        if not (_STAYED.search(text) and not _SELF.isdisjoint(words(text))) or SEEN.search(text):
            return None
        if place is None and target_of(_STAYED.sub(' ', text)):
            return None
        query = DeedQuery(STAY, place='' if place is None else place.name, scope=self.scope)
        known = words(' '.join(place.names)) if place else ()
        return Selection(choose_deeds(query, self.source).every, 'places', known=known)

    def _moves(self, text: str) -> Selection | None:
        kind = next((kind for pattern, kind in _MOVES if pattern.search(text)), '')
        if not kind or SEEN.search(text):
            return None
        every = choose_deeds(DeedQuery(kind, scope=self.scope), self.source).every
        return Selection(every, 'motion') if every else None

    def _objects(self, text: str) -> Selection | None:
        found = self.things(text)
        in_time = (self.scope.after_ns, self.scope.before_ns) != (None, None)
        made = []
        for item in found:
            seen = item.known.seen_within(self.scope.after_ns, self.scope.before_ns)
            if seen and (in_time or item.known.missing_ns is None):
                facts = DeedFacts(
                    kind=SIGHT, object=described(item.known), object_id=item.known.id, place=item.place
                )
                made.append(Occurrence(seen[0][0], seen[-1][1], facts, (item.known.memory,)))
        return Selection(made, 'objects', known=words(target_of(_ASKS.sub('', text)))) if found else None

    def _sights(self, text: str) -> Selection | None:
        thing = target_of(SEEN.sub(' ', _ASKS.sub('', text)))
        wanted = parse_request(f'Where is {thing}?', 0)
        hits = find_sightings(wanted, self.recall, self.scope, _ALL) if wanted.target else []
        if not hits:
            return None
        best = as_good_as_best(hits)
        stays = listing(best, self.question.same_place, self.recall).stays
        names = self.source.places.names_of([stay[0].memory for stay in stays])
        made = [
            Occurrence(
                *span(stay),
                DeedFacts(kind=SIGHT, object=thing, place=name),
                tuple(hit.memory for hit in stay),
            )
            for stay, name in zip(stays, names, strict=True)
        ]
        known = words(thing) if hits[0].score >= EVEN else ()
        return Selection(made, 'sights', hits[0].score, known=known)
