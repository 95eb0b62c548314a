"""Sentences of the offline planner's answers: things, quotations, signs, counts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.model.grounding import Choice, Claim
from remembr_ros.agent.model.matching import asked_stems
from remembr_ros.agent.model.relevance_model import POOL
from remembr_ros.agent.model.same_place import SamePlace
from remembr_ros.agent.offline.question_terms import is_plural
from remembr_ros.agent.offline.request import Request
from remembr_ros.agent.overview.listing import listing
from remembr_ros.memory.diary.highlights import readable
from remembr_ros.memory.matching.ranking import split_sentences
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import PERSON
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.timestamps import format_clock

NOTHING_READ = 'No readable text.'
SENTENCES_TOLD = 5  # Of what is somewhere
TIMES_TOLD = 20  # Of more times the first are said
READING_RADIUS_M = 4.0  # What can be read 'at' a place can be read from this near to it


def was_seen(request: Request, hit: Hit, *, last: bool = False) -> str:
    """Return the beginning of a sentence about where or when it was.

    :param last: at the last of several places
    """
    if not request.target:
        return 'I was'
    if hit.memory.source == PERSON:
        return f'A person noted "{hit.memory.caption}"'
    name = name_as_read(request, hit)
    verb = 'were' if is_plural(name) else 'was'
    return f'{name[0].upper()}{name[1:]} {verb} {"last " if last else ""}seen'


def name_as_read(request: Request, hit: Hit) -> str:
    """Return what was asked for as the camera read it, where it did."""
    asked = asked_stems(request)
    for text in hit.memory.scene_text:
        if asked & content_stems(text):
            return f'"{text}"'
    return request.thing


def sentences_about(request: Request, hit: Hit) -> str:
    """Return the sentences of a caption that speak of what was asked for; all of a short caption."""
    asked = asked_stems(request)
    sentences = split_sentences(hit.memory.caption)
    about = [sentence for sentence in sentences if asked & content_stems(sentence)]
    text = ' '.join((about or sentences)[:3]) or 'nothing that could be described'
    return f'a person noted "{text}"' if hit.memory.source == PERSON else text


def what_is_there(hits: Sequence[Hit], place: str) -> str:
    """Return what was seen somewhere, each sentence once.

    :param place: such as 'within 10 m of the lift'
    """
    texts = dict.fromkeys(s for hit in hits for s in split_sentences(hit.memory.caption) if s != NOTHING_READ)
    return f'{place[0].upper()}{place[1:]}: {" ".join(list(texts)[:SENTENCES_TOLD])}'


def count_places(request: Request, hits: Sequence[Hit], same_place: SamePlace, limit: int) -> Claim:
    """Say at how many places the thing was seen.

    :param limit: more memories were not looked at
    """
    groups = listing(hits, same_place).places
    number = f'{len(groups)} places' if len(groups) > 1 else 'one place'
    number += ' or more' if len(hits) >= limit or any(hit.memory.pose is None for hit in hits) else ''
    wall = ' without a wall between' if same_place.walls is not None else ''
    text = (
        f'{request.thing}: seen at {number}, those within {same_place.radius_m:g} m of each other{wall} '
        'taken as one.'
    )
    return Claim(Kind.TEXT, text, [group[0] for group in groups])


def cite_every_place(request: Request, placed: Sequence[Hit], same_place: SamePlace, note: str) -> Claim:
    """Cite one memory of each place where the thing was seen, so that all of them can be visited."""
    best = [max(group, key=lambda hit: hit.score) for group in listing(placed, same_place).places]
    best.sort(key=lambda hit: -hit.score)
    number = f' at {len(best)} places, the surest one' if len(best) > 1 else ''
    return Claim(Kind.POSITION, f'{was_seen(request, best[0])}{note}{number}', best, choice=Choice.EVERY)


def count_visits(
    request: Request, hits: Sequence[Hit], question: Question, recall: Recall, limit: int
) -> Claim:
    """Say how many times the thing was seen, and when if that is asked: each stay at each place is one.

    :param limit: more memories were not looked at
    """
    visits = listing(hits, question.same_place, recall).stays
    number = f'{len(visits)} times' if len(visits) > 1 else 'once'
    number += ' or more' if len(hits) >= limit else ''
    text = f'{request.thing}: seen {number}; a stay at one place counts once.'
    if request.every_time:
        times = [format_clock(visit[0].memory.start_ns, question.zone) for visit in visits[:TIMES_TOLD]]
        more = f' and {len(visits) - TIMES_TOLD} times later' if len(visits) > TIMES_TOLD else ''
        text = f'{text} At {", ".join(times)}{more}.'
    return Claim(Kind.TEXT, text, [visit[0] for visit in visits])


def seen_most_often(
    request: Request, placed: Sequence[Hit], question: Question, recall: Recall, note: str
) -> Claim:
    """Return the place where the thing was seen the most times."""
    found = listing(placed, question.same_place, recall)
    best = found.most_often()
    times = sum(stay[0] in best for stay in found.stays)
    often = f' {times} times of {len(found.stays)}' if len(found.stays) > 1 else ''
    return Claim(Kind.POSITION, f'{was_seen(request, best[0])}{note}{often}', best)


def read_texts(
    request: Request, hits: Sequence[Hit], best: Sequence[Hit], scope: Scope, recall: Recall
) -> Claim:
    """Say what can be read at the place of the best memory, nearest text first, or at a time."""
    if request.target or request.here:
        nearby = list(best[:1])
        memory = nearby[0].memory
        if (pose := memory.pose) is not None:
            around = replace(scope, near=pose.position, radius_m=READING_RADIUS_M, map_id=memory.map_id)
            nearby += recall.find(Query(place=pose.position, scope=around, limit=POOL))
    else:
        nearby = [hit for hit in hits if readable(hit.memory)] or list(hits)
        if request.choice in (Choice.EARLIEST, Choice.LATEST):
            nearby = nearby[:1]
    if request.choice is Choice.MOST_OFTEN and not request.target:
        often = Counter(text for hit in hits for text in readable(hit.memory))
        if often:
            [(most, times)] = often.most_common(1)
            having = [hit for hit in hits if most in readable(hit.memory)]
            return Claim(Kind.TEXT, f'"{most}", in {times} of {len(hits)} memories.', having)
    read: dict[str, tuple[str, Hit]] = {}
    for hit in nearby:
        for text in readable(hit.memory):
            read.setdefault(text.lower(), (text, hit))
    if not read:
        return Claim(Kind.TEXT, 'Nothing could be read there.', nearby[:1])
    texts = ', '.join(f'"{text}"' for text, _ in read.values())
    evidence = {hit.memory.id: hit for _, hit in read.values()}
    number = f'{len(read)} texts: ' if request.counting else ''
    return Claim(Kind.TEXT, f'There one can read {number}{texts}.', list(evidence.values()))
