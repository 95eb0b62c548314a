"""The planner without a language model: rules, and the memory's own recall.

It takes a command apart (commands), reads a question (request), has those who know of deeds, places, objects,
days, motion and sights make claims, and takes the one that is about all of it (understood). How often it
takes one thing for another, or misses what is there: docs/offline-planner.md.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.model.answer_text import with_facts
from remembr_ros.agent.model.grounding import Claim, ground
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.commands.command_answers import answer_command
from remembr_ros.agent.offline.day_questions import claim_of_day, parse_day
from remembr_ros.agent.offline.deeds.deed_answers import answer_deeds
from remembr_ros.agent.offline.deeds.goals import answer_goal
from remembr_ros.agent.offline.executor.tally import answer_contrast
from remembr_ros.agent.offline.motion_questions import answer_motion
from remembr_ros.agent.offline.named_scope import NamedScope, asked_of, named_scope, within_place
from remembr_ros.agent.offline.newest import as_told_since
from remembr_ros.agent.offline.not_seen import NAME, UNTOLD, beyond_rules, no_answer, not_understood
from remembr_ros.agent.offline.objects.object_answers import answer_by_objects
from remembr_ros.agent.offline.places.place_answers import answer_by_places, in_room, without_room
from remembr_ros.agent.offline.question_terms import written_out
from remembr_ros.agent.offline.reader.follow_up import in_full
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.offline.sights import answer_from_sights
from remembr_ros.agent.offline.understood import Accounted, best, found, said
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.agent.times.day import WEEKDAYS
from remembr_ros.memory.matching.terms import words
from remembr_ros.memory.recall_protocol import Recall

_NEVER = any_case(r'^(\W*(?:did|have|had) (?:you|we|the robot)) never\b')
MAX_READ = 1_000
"""Characters of a question that are read. The rules know sentences, and what they take grows with the text: a
planner that computes can be stopped between its recalls only."""


class OfflinePlanner:
    """Answers questions by rules."""

    name = NAME

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        question = replace(question, text=written_out(question.text[:MAX_READ]))

        def answered(simple: Question) -> Answer:
            return in_room(self._answer(simple, recall, run), simple)

        return answer_command(question, answered) or answered(question)

    def _answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        text = in_full(question)
        never = _NEVER.match(text)
        question = replace(question, text=f'{never[1]}{text[never.end() :]}' if never else text)
        named = named_scope(question.text, recall)
        # Of other robots it is of no interest where this one is.
        question = replace(question, here=None if named.robots else question.here)
        run.check()
        claim = said(best(_claims(named, question, recall, run)))
        claim = as_told_since(claim, *asked_of(named, question), question, recall)
        if never and claim.binary is not None:  # of 'Did you never ...?' nobody knows what yes is
            told = claim.text.removeprefix('Yes: ').removeprefix('No: ').removeprefix('No, ')
            claim = replace(claim, text=f'{"I did" if claim.binary else "Never"}: {told}')
        answer = with_facts(ground(claim, question, NAME), question)
        return replace(answer, text=f'{answer.text}{claim.note}')


def _claims(named: NamedScope, question: Question, recall: Recall, run: Run) -> Iterator[Accounted]:
    """Yield what can be told of a question, by those who know most of it first."""
    whole = question.text
    request, scope = asked_of(named, question)
    run.on_progress(Progress('recalling', request.target or question.text))

    def about(claim: Claim | None, by: str) -> Iterator[Accounted]:
        if claim is None:
            return
        if claim.denies and scope.is_narrow and not recall.count(scope):  # nobody knows what was then
            claim = replace(claim, confidence=min(claim.confidence, UNTOLD))
        yield found(claim, by, whole, request, _taken(whole, request))

    if (compared := answer_contrast(request, question, recall, scope)) is not None:
        yield from about(*compared)
    yield from about(answer_goal(request, question, recall, scope), 'goals')
    yield from about(answer_by_places(request, question, recall, scope), 'places')
    text = without_room(named.text, question.places)
    named = within_place(replace(named, text=text), question.places, recall)
    request, scope = asked_of(named, question)
    if why := not_understood(request):
        yield from about(no_answer(why), 'sights')
        return
    why = named.unknown or beyond_rules(request)
    if not named.unknown:
        yield from about(answer_deeds(request, question, recall, scope), 'deeds')
    if not why:
        yield from about(answer_by_objects(request, question, recall, scope), 'objects')
    if (day := parse_day(request, question)) is not None:
        of_day = replace(day.scope, robots=named.robots, map_id=named.map_id, place=scope.place)
        claim = claim_of_day(replace(day, scope=of_day), question, recall)
        yield from about(replace(claim, about=' '.join(('about', *WEEKDAYS))), 'day')
    yield from about(answer_motion(request, question, recall, scope), 'motion')
    run.check()
    if why:
        yield from about(no_answer(why), 'sights')
    else:
        yield from about(answer_from_sights(named, request, question, recall, scope, run), 'sights')


def _taken(text: str, request: Request) -> list[str]:
    """Return the words of a question that say when, where or of which robot."""
    left = Counter(words(request.window.rest))
    return list((Counter(words(text)) - left).elements())
