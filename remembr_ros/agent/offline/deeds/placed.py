"""Where the robot put a thing: the deed tells, whatever was seen of such things elsewhere since."""

import re
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.offline.request import Request
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import AGENT
from remembr_ros.memory.recall import Recall

MOST = 500  # deeds among which the last one is looked for
SURE = 0.95  # it is what the robot itself says; somebody may have taken the thing since
_PUT = re.compile(
    r'^\W*where\s+(did|have|has)\s+(you|the\s+robot|it)\s+(put|placed?|leave|left|set|lay|laid|drop(ped)?|stored?)\b',
    re.IGNORECASE,
)


def answer_placed(request: Request, question: Question, recall: Recall, scope: Scope) -> Claim | None:
    """Return where a thing was put last; None: that is not asked, or no deed tells.

    :param scope: of the question
    :raises StoreUnavailable: there is no store
    """
    if not request.target or not _PUT.match(question.text):
        return None
    asked = content_stems(request.thing)
    own = replace(scope, source=AGENT)
    # The last ones first, which are told by no text: it would find those that say it in the fewest words.
    for query in (Query(scope=own, limit=MOST), Query(request.thing, scope=own, limit=MOST)):
        put = [h for h in recall.find(query) if _is_put(h) and asked <= content_stems(h.memory.caption)]
        if put:
            break
    else:
        return None
    last = max(put, key=lambda hit: (hit.memory.end_ns, hit.memory.id))
    kind = Kind.TEXT if last.memory.pose is None else Kind.POSITION
    return Claim(kind, last.memory.caption, (last,), choice=Choice.CITED_FIRST, confidence=SURE)


def _is_put(hit: Hit) -> bool:
    facts = facts_of(hit.memory)
    return facts is not None and facts.kind == 'place' and facts.outcome in ('succeeded', 'unknown')
