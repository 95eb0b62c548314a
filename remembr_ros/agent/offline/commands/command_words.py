"""Words of commands: their verbs, the persons that they are about, and what links their clauses."""

from remembr_ros.agent.model.quoting import any_case

GO = frozenset('go navigate drive walk move head return come proceed visit revisit travel run'.split())
LEAD = frozenset('take bring lead guide escort show accompany direct get send'.split())
FIND = frozenset('find locate look search seek spot'.split())
TELL = frozenset('tell describe list count say show report summarise summarize'.split())
PUT = frozenset('put place set lay drop store deliver bring give hand carry throw pour serve return'.split())
SOCIAL = frozenset(
    'greet salute introduce meet contact follow answer ask talk speak offer wave inform call invite remind '
    'warn help hug'.split()
)
HANDLE = frozenset(
    'grasp grab fetch pick hold lift open close shut clean wash wipe cook make turn switch push pull unload '
    'load dance sing play wait stay remove collect sort fill empty vacuum mop press water feed shake leave '
    'check'.split()
)
VERBS = GO | LEAD | FIND | TELL | PUT | SOCIAL | HANDLE
RECALLING = frozenset(
    'see hear tell show say name list describe remember recall know explain summarise summarize read give '
    'count help think recognise recognize detect compare check look confirm estimate point'.split()
)
"""What somebody who remembers can do."""

UNLIKE = frozenset('put set read cut let'.split())
"""Verbs whose past is no other word: 'where you picked it and put it'."""
PERSONS = frozenset(
    'person people man woman men women guest visitor boy girl child children friend colleague somebody '
    'someone anybody anyone host customer waiter kid lady gentleman'.split()
)
HIM = frozenset('him her them'.split())
ME = frozenset('me us'.split())
IT = frozenset('it them that this one'.split())

PREPOSITIONS = frozenset('from to in at on into onto inside near by'.split())
NO_PLACE = frozenset(
    'left right arm arms day week month time floor yourself me us it that this them him her here way detail '
    'order total'.split()
)
"""What stands after a preposition and is nowhere to go to."""
AT = {'from': 'at', 'by': 'near'}
"""Where a thing is that is to be taken from there."""
CHOOSING = frozenset('nearest closest farthest furthest latest earliest most least last'.split())
"""Superlatives of which a memory knows."""
LINKS = frozenset((',', ';', '.', '!', ':', *'and but then afterwards finally next please also'.split()))
JOINS = frozenset((',', ';', '.', '!', 'and', 'but', 'then'))
NOT = frozenset(("n't", 'n\u2019t', 'not', 'never', 'except', 'without'))

POLITE = any_case(
    r'^\W*(?:(?:hey|hi|hello|ok|okay|please|robot|so|and|now|kindly|then|first|just|alright)\b[\s,]*'
    r"|let(?:'s| us) |(?:can|could|would|will) you(?: please)? "
    r"|(?:i (?:want|need|would like)|i'd like)(?: you)? to )*"
)
THANKS = any_case(r'[\s,]*\b(?:please|thanks|thank you|for me)\W*$')
ABLE = any_case(
    r'^\W*(?:(?:hey|hi|please|robot|and|so)\b[\s,]*)*(?:can|could|will|would) you(?: please)? '
    r'(?P<verb>[a-z]+)'
)

ASKED = any_case(
    r'^(?:(?:tell|show|inform) (?:me|us) (?:if|whether|what|where|when|who|which|how|why|about)\b'
    r'|(?:describe|list)\b'
    r'|(?:give|tell|show) (?:me|us) (?:the|a|an) (?:number|list|names?|count|summary|overview|description)\b)'
)
ASKING = any_case(r'^(?:where|what|which|who|how many|how much|is|are)\b')
BY_ANYBODY = any_case(r'\b(?:did|do|does|has|have|had|you|i|we|was|were)\b')
OF_MEMORY = any_case(r'\b(?:you|we|i|saw|seen|did|was|were|your|yesterday|ago)\b')

_UNIT = r'(?:second|sec|minute|min|hour|day|week)s?'
_NUMBER = r'(?:\d+|an?|half an?|one|two|three|five|ten|fifteen|twenty|thirty|a few|some)'
_CLOCK = r'(?:\d{1,2}(?::\d\d)? ?[ap]\.?m\b\.?|\d{1,2}:\d\d|noon|midnight|\d{1,2} o\W?clock|half past \w+)'
_DAY = r'(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day)'
LATER = any_case(
    rf'[\s,]*\b(?:in (?:about )?{_NUMBER} {_UNIT}\b|(?:at|around|by) {_CLOCK}'
    r'|tomorrow(?: (?:morning|noon|afternoon|evening|night))?|tonight|later(?: today| on)?'
    rf'|(?:on )?next (?:week|month|time|{_DAY})'
    rf'|every (?:\d+ )?(?:{_UNIT}|morning|evening|night|{_DAY})'
    rf'|(?:daily|hourly|regularly))(?: {_CLOCK}| at {_CLOCK})?'
)
ASKS = any_case(r'\b(?:tell|show|say|check|see|look|ask|know)\b[^,]*$')
"""Before 'if' and 'when': those begin a question."""
ONCE = any_case(
    r'[\s,]*\b(?:if|unless|as soon as|whenever|once|until|when|(?:after|before)(?= (?:you|\w+ing)\b)) [^,]+,?'
)
