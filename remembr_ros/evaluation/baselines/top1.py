"""The floor baseline: the top hit of the raw question is the answer."""

from dataclasses import replace

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.model.answer_text import with_facts
from remembr_ros.agent.model.grounding import Claim, ground
from remembr_ros.agent.offline.request import parse_request
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.recall_protocol import Recall

DURATION_S = 60.0  # what every duration is said to be: one memory tells none


class Top1Planner:
    """Recalls one memory by the question's own words and never doubts it.

    The kind of the answer is read from the question; place and time are the memory's, text is its caption,
    yes or no is always yes, and a duration always a minute. What thinks should be better.
    """

    name = 'top1'

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        run.on_progress(Progress('recalling', question.text))
        hits = recall.find(Query(question.text, scope=Scope(map_id=question.map_id or None), limit=1))
        kind = parse_request(question.text, question.now_ns).kind
        if not hits:
            return ground(Claim(Kind.NOT_SEEN, 'Nothing was found.'), question, self.name)
        (hit,) = hits
        if kind is Kind.POSITION and hit.memory.pose is None:
            claim = Claim(Kind.NOT_SEEN, 'What was found has no place.')
        else:
            binary = True if kind is Kind.BINARY else None
            claim = Claim(kind, hit.memory.caption, hits, binary=binary, start=hit, end=hit)
        answer = ground(claim, question, self.name)
        return with_facts(
            replace(answer, duration_s=DURATION_S) if kind is Kind.DURATION else answer, question
        )
