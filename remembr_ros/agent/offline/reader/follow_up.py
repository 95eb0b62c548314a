"""A follow-up question in full: the question before with one part changed."""

import re
from datetime import timedelta
from itertools import takewhile

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.english import parse
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.named_scope import named_in
from remembr_ros.agent.offline.reader.two_sides import thing_before
from remembr_ros.agent.offline.reader.wish import is_furniture
from remembr_ros.agent.offline.request import thing_of
from remembr_ros.agent.times.time_window import parse_window
from remembr_ros.memory.matching.terms import words
from remembr_ros.timestamps import local

_ENDS = frozenset('ADP ADV AUX PUNCT PRON CCONJ SCONJ PART'.split())
_PREPOSITIONS = 'in|on|at|to|from|into|onto|near|under|with|for|by|of'
_OTHER = any_case(
    r'^\W*(?:(?:and|but|or|ok|so|then)\W+)*(?:(?:what|how) about )?'
    r'(?!.*\b(?:is|are|was|were|did|do|does|has|have|can|it|them|there|you|what|where|which|who)\b)'
    rf'(?P<what>(?:(?:{_PREPOSITIONS}|after|before|since|until) )?(?:(?:the|an?|any|my|your|this|last) )?'
    r'[\w:-]+(?: [\w:-]+){0,4}?)\W*$'
)
_LEADS = any_case(r'^\W*(?:and|but|or|(?:what|how) about)\b')
_AND = any_case(r'^\W*(?:and|but|so) ')
_AGAIN = any_case(
    r'^\W*(?:(?:and|but|so) )?(?P<ask>why|how often|how many(?: times)?|which|what)'
    r'(?: ones)?(?: (?:of )?(?:those|them|these)| (?:was|is) (?:that|this|it)| (?:did|do) you)*'
    r'(?P<more> (?:were |are |did |have )?(?:fail(?:ed)?|succeed(?:ed)?|go(?:ne)? wrong|went wrong))?'
    rf'(?P<at> (?:are|were) (?:there )?(?:{_PREPOSITIONS}) .+?)?(?: are (?P<like>\w+))?\W*$'
)
_ASKS = any_case(
    r'^\W*(?:when|where|why|how (?:often|long|far|many times)|(?:at )?what time|on which days?)(?: ago)? '
    r'(?=(?:did|do|have|had|were|was|are|is)\b)'
)
_WENT_WRONG = any_case(r'\b(?:fail\w*|wrong)\b')
_WHAT = any_case(r'^\W*(?:what|which \w+) (?=(?:did|have|had) you\b)')
_HOW_MANY = any_case(r'^\W*how many ')
_AUX = any_case(r'^\W*(?:did|do|have|had|were|was)\b')
_ORDERS = any_case(
    r'\b(?:first|last|second|third|next|previous|most|least|fewest|longest|shortest|nearest|closest|farthest)\b'
)
_BESIDE_DAY = any_case(
    r'^(?:(?:on )?the )?(?:(?P<next>next day|following day|day after)|previous day|day before)(?: that)?$'
)
_PRONOUN = any_case(r'\b(?:it|them|they)\b|\b(?:that|this|those|these|there)(?=\W*$)')


def in_full(question: Question) -> str:
    """Return the text of a question; of one that follows another that one with what it changes.

    'And the red one?' changes the thing, 'in the kitchen?' the place, 'yesterday?' the time, 'how often?'
    what is asked, 'and the last time?' which one; 'it' is the thing of the one before.
    """
    if question.prior is None:
        return question.text
    before, text = question.prior.question, question.text
    if again := _AGAIN.match(text):
        return _asking(before, again)
    other = _OTHER.match(text)
    if (
        other
        and (_LEADS.match(text) or len(words(text)) <= 3)
        and (changed := _changed(question, other['what']))
    ):
        return changed
    thing, text = thing_of(before), _AND.sub('', text)
    done = [hit.memory.facts.get('object', '') for hit in question.prior.answer.evidence[:1]]
    if _WHAT.match(before) and any(done):  # 'What did you pick up? Where did you put it?'
        thing = f'the {done[0]}'
    return _PRONOUN.sub(lambda _: thing, text, count=1) if thing else text


def _asking(before: str, again: re.Match[str]) -> str:
    """Return the question before with something else asked of the same."""
    ask, more, thing = again['ask'].lower(), again['more'] or '', thing_of(before)
    if again['like'] and thing:
        return before.replace(thing, f'{again["like"]} {thing}', 1)
    if again['at']:
        return f'{again["ask"]} {_without_article(thing)}{again["at"]}?'
    if ask == 'why' and _WENT_WRONG.search(before):
        return before  # which tells the reasons
    if ask in ('which', 'what') and (many := _HOW_MANY.match(before)):
        return f'{ask} {before[many.end() :]}'
    rest, what = _ASKS.sub('', before), _WHAT.match(before)
    ask = {'how many': 'how many things' if what else 'how often', 'how many times': 'how often'}.get(
        ask, ask
    )
    rest = before[what.end() :] if what else rest
    if not _AUX.match(rest) and thing and ask == 'how often':  # 'Where is the cup?', 'Are there cups?'
        return f'How many {_without_article(thing)} are there?'
    return f'{ask} {rest[:1].lower()}{rest[1:].rstrip(" ?.!")}{more}?'


def _changed(question: Question, what: str) -> str:
    """Return the question before with a time, a place, an order or a thing changed; empty: with none."""
    before = question.prior.question if question.prior else ''
    ends = before.rstrip(' ?.!')

    def rest(text: str) -> str:
        return parse_window(text, question.now_ns, question.zone).rest.strip(' ?.!,')

    since_ns = parse_window(before, question.now_ns, question.zone).after_ns
    if since_ns is not None and (beside := _BESIDE_DAY.match(what)):
        day = local(since_ns, question.zone) + timedelta(days=1 if beside['next'] else -1)
        return f'{rest(before)} on {day:%Y-%m-%d}?'
    for timed in (what, f'on {what}'):
        if parse_window(timed, question.now_ns, question.zone).rest != timed and not rest(timed):
            return f'{rest(before)} {timed}?'
    order = re.fullmatch(r'(?i)(?:the )?(\w+)(?: time)?', what)
    if order and _ORDERS.fullmatch(order[1]) and _ORDERS.search(before):
        return _ORDERS.sub(order[1], before, count=1)
    named, others = named_in(what, question.places.all), named_in(before, question.places.all)
    if named and others:
        (start, end), _ = others[-1]
        bare = re.sub(rf'(?i)^(?:{_PREPOSITIONS}) ', '', what)
        return f'{before[:start]}{bare}{before[end:]}'
    tree = parse(ends)
    at = [word for word in tree if word.dep == 'pobj' and is_furniture(word.low)]
    if at and is_furniture(what) and not re.match(rf'(?i)(?:{_PREPOSITIONS}) ', what):
        what = f'{tree.head(at[-1]).low} {what}'
    if said := re.match(rf'(?i)(?:{_PREPOSITIONS}) ', what):
        start, end = _last_after(said[0].strip().lower(), ends)
        return f'{ends[:start].rstrip()} {what}{ends[end:]}?'
    things = (thing_of(before), thing_before(parse(ends), len(ends)))
    thing = next((thing for thing in things if thing in ends), '')
    return before.replace(thing, re.sub(r'\bones?\b', thing.split()[-1], what), 1) if thing else ''


def _without_article(thing: str) -> str:
    return re.sub('(?i)^(?:the|an?|any|some) ', '', thing)


def _last_after(preposition: str, text: str) -> tuple[int, int]:
    """Return where a text has the last phrase with a preposition; its end, where it has none."""
    tree = parse(text)
    for word in reversed(tree.words):
        named = list(takewhile(lambda after: after.pos not in _ENDS, tree.words[word.index + 1 :]))
        if word.low == preposition and named:
            return word.start, named[-1].start + len(named[-1].text)
    return len(text), len(text)
