"""Reading a wish to be taken to what the robot did something to: 'Go to the table that you put it on'."""

from collections.abc import Iterable
from dataclasses import replace

from remembr_ros.agent.model.english import parse_named
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.quoting import any_case, ordinal
from remembr_ros.agent.offline.deeds.wish_tree import GoalRequest, WishTree
from remembr_ros.memory.matching.terms import words

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
    r',? ?(?:\b(?:and )?(?:that|which) (?:is|are|was|were) (?:the )?)?\b(?:(?P<far>farthest|furthest'
    r'|most (?:distant|remote))|nearest|closest)\b(?:(?: away)? (?:from|to) (?:here|me|us|you|where (?:you|we'
    r'|i) (?:are|am)|(?:your|the) current (?:position|place|location))\b)?(?!(?: away)? (?:from|to)\b)'
    r'(?: and\b)?'
)
_ORDERED = any_case(
    r',? ?\b(?:in (?!(?:the )?(?:reverse|opposite|other)\b)(?:\w+ ){0,2}order(?:(?: as)?,|\b(?! to\b).*$)'
    r'|one after the other|chronologically)'
)
_SEQUENCE = any_case(r'\W+the order to (?:re)?visit them is\b:?(?P<listed>(?:,? \w+)+)\W*$')
_THING = r'(?P<thing>(?:the|an?|your) .+?)'
_START = (
    r'(?:originally|initially|at first|(?:in|at) the (?:beginning|start)|before you \w+ (?:it|them)(?: up)?)'
)
_MOST = r'.*\b(?:twice|times|most|least|longest|shortest)\b.*'
_QUESTIONS = tuple(
    (any_case(question), wish)
    for question, wish in (
        (
            rf'^(?:which|what) (\w+(?: \w+)?) (?:did|have|had) you (?!go\b|gone\b|visit|been\b)({_MOST})$',
            r'go to the \1 that you \2',
        ),
        (
            rf'^where (?:did|have|had) you \w+ {_THING} from (?P<where>(?:the|an?|your)\b.+?)\W*$',
            r'go to the receptacle that you placed \g<thing> on after you picked \g<thing> from \g<where>',
        ),
        (
            rf'^(?:from (?:where|which \w+|what)|where(?=.* that you)) did you \w+(?: up)? {_THING}'
            r' (?:to|onto|into|that you \w+ (?:to|on|onto|in|into)) (?P<where>.+?)\W*$',
            r'go to the receptacle that you picked \g<thing> from before you placed \g<thing> on \g<where>',
        ),
        (
            rf'^where did you (?:take|bring|carry|deliver|move) (?!.* from\b){_THING}(?: to)?\W*$',
            r'go to the receptacle that you placed \g<thing> on',
        ),
        (
            rf'^where was {_THING} {_START}\W*$',
            r'go to the first receptacle that you picked \g<thing> from',
        ),
        (
            rf'^from (?:which|what) \w+ did you (?:take|pick|get|grab|move|fetch) {_THING}(?: up)?\W*$',
            r'go to the receptacle that you picked \g<thing> from',
        ),
    )
)
"""Questions for where things were moved, and the same as wishes."""


def read_goal(text: str, names: Iterable[str] = ()) -> GoalRequest | None:
    """Return what a wish asks for; None: it is none, or one for something else.

    A question for where things were moved is the wish to be taken there.

    :param text: without politeness and words of time
    :param names: of things that the memory knows
    """
    for question, wish in _QUESTIONS:
        if question.match(text):
            goal = read_goal(question.sub(wish, text), names)
            return goal and replace(goal, question=True)
    listed, ordered, far = _SEQUENCE.search(text), _ORDERED.search(text), _FAR.search(text)
    wished = ' '.join(_FAR.sub(' ', _ORDERED.sub(' ', _SEQUENCE.sub('', text))).split())
    lead = _LEAD.match(wished)
    if lead is None:
        return None
    wished = wished[lead.end() :]
    for pattern, plain in _PLAIN:
        wished = pattern.sub(plain, wished)
    # The model knows sentences with a subject better than commands.
    goal = WishTree(parse_named(f'You go to {wished}.', names)).read()
    if goal is None or not (listed or ordered or far):
        return goal
    sequence = [nth for word in words(listed['listed']) if (nth := ordinal(word))] if listed else []
    choice = Choice.FARTHEST if far and far['far'] else Choice.NEAREST if far else Choice.IN_ORDER
    return replace(goal, choice=choice, sequence=tuple(sequence))
