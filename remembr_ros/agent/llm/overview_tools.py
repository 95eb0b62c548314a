"""Tools over all memories: what shows a thing, by stays; a day or another time as a whole."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Literal

from pydantic import Field

from remembr_ros.agent.llm.arguments import UNTOLD, Arguments, Narrowed, Place
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.near_thing import find_thing
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.matching import another_thing
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.model.relevance_model import how_likely
from remembr_ros.agent.model.same_place import span
from remembr_ros.agent.offline.request import Request, searched
from remembr_ros.agent.overview.listing import Listing, alternatives, listing, naming
from remembr_ros.agent.overview.recalled_day import TODAY, RecalledDay, nothing_of_day, recall_day
from remembr_ros.memory.diary.day_text import DayWording, heading, shown_by
from remembr_ros.memory.diary.episode import Episode
from remembr_ros.memory.matching.ranking import split_sentences
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit, Query
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.recall_protocol import every
from remembr_ros.timestamps import format_clock

EPISODES = 16  # Stays and drives that a model is told, apart from the pieces of long drives
MOST_LETTERS = 4_000  # Of all that it is told, some 1,000 tokens; a shorter time is told in more detail
FEWEST_LETTERS = 40  # Of what was seen and read, for each
TEXTS = 8
DEEDS = 3  # Of each, where there is room

PER_PAGE = 15  # Lines: some 400 tokens
PLACES = 5  # that are told
SAID = 60  # Characters of what shows it, for each
COMPARED = 100  # Memories that are nearest in meaning
MEANT, PERHAPS = 5, 0.2  # of them that are told where they lack the words, beside others if so likely
SURE = 0.8  # What code lists of poses, and of all memories with the words, is there


class ListAll(Narrowed):
    """All that show it (a, b: any): how many, how often, since when, where."""

    query: str = Field(min_length=1, max_length=2_000)
    radius: float = Field(10.0, gt=0.0, le=1e6)
    by: Literal['time', 'place'] = 'time'
    page: int = Field(1, ge=1, le=10_000)


@dataclass(frozen=True, slots=True)
class ToldLine:
    """A line for a model.

    :param hits: what it is told of, to be cited by label
    :param seconds: how long that was, if it is known better than from the memories [s]
    """

    text: str
    hits: Sequence[Hit] = ()
    seconds: float | None = None


def list_all(call: ListAll, context: CallContext) -> Job:
    """List all memories that show something."""
    words, question = context.words(call.near), context.question
    wanted = {one: searched(one) for one in alternatives(call.query)}
    scope = context.scope(call.model_copy(update={'near': None}) if words else call)
    context.recalls += 1

    def job() -> Callable[[], str]:
        recall = context.recall
        thing = find_thing(words, call.radius, scope, context)
        memories, whole = every(recall, scope)
        inside = thing.beside([Hit(memory, 0.0) for memory in memories])
        near = thing.beside(recall.find(Query(call.query, scope=scope, limit=COMPARED))) if inside else []
        fits = [max(how_likely(one, hit, recall.embedder_name) for one in wanted.values()) for hit in near]
        likely = {hit.memory.id: replace(hit, score=fit) for hit, fit in zip(near, fits, strict=True)}
        known = _named([hit.memory for hit in inside], wanted)
        named = [likely.pop(hit.memory.id, hit) for hit in inside if hit.memory.id in known]
        others = [hit for hit in likely.values() if not named or hit.score >= PERHAPS]
        others.sort(key=lambda hit: -hit.score)
        listed = listing(named, question.same_place, recall)
        lines = [
            ToldLine(_summed_up(listed, f'{len(inside)}{"" if whole else " or more"} memories')),
            *paged(_by_stays(listed, call, question, thing.name), call.page),
        ]
        if others and call.page == 1:
            lines.append(ToldLine(f'in other words, at best {others[0].score:.2f} likely to show it:'))
            distinct: dict[str, Hit] = {}
            for hit in others:
                distinct.setdefault(hit.memory.caption, hit)
            meant = [*distinct.values()][:MEANT]
            lines += [ToldLine(_seen(hit, call.query, question, thing.name), [hit]) for hit in meant]
        if words:
            seen = [ToldLine(_seen(hit, words, question), [hit]) for hit in thing.seen]
            lines += [ToldLine(f'{thing.name} was seen:'), *seen]

        def tell() -> str:
            context.searched.append((scope.is_narrow or bool(words), len(inside)))
            if named:
                context.sure = max(context.sure, SURE)
            else:
                context.evidence.keep_scores(near)
            return '\n'.join(shown(line, context.evidence) for line in lines)

        return tell

    return job


def _named(memories: Sequence[Memory], wanted: Mapping[str, Request]) -> set[str]:
    """Return the ids of the memories that have the words of any of several things."""
    found = ((hit.memory, one) for text, one in wanted.items() for hit in naming(memories, text))
    return {memory.id for memory, one in found if not another_thing(one, memory)}


def shown(line: ToldLine, evidence: Evidence) -> str:
    """Return a line as a model is shown it, under the labels of its memories."""
    labels = [label for label, *_ in evidence.add(line.hits)]
    text = evidence.tell(line.text)
    if labels and line.seconds is not None:
        evidence.lasted[labels[0], labels[-1]] = line.seconds
    return f'[{", ".join(labels)}] {text}' if labels else text


def _summed_up(listed: Listing, whole: str) -> str:
    if not listed.places:
        return f'none of {whole} has these words'
    most = sorted(enumerate(listed.places, 1), key=lambda place: -len(place[1]))[:PLACES]
    often = ', '.join(f'place {number}: {len(place)} memories' for number, place in most)
    stays = f'{len(listed.stays)} stays at {len(listed.places)} places'
    return f'{listed.memories} of {whole} have these words: {stays}; {often}'


def _by_stays(listed: Listing, call: ListAll, question: Question, thing: str) -> list[ToldLine]:
    """Return a line per stay, cited by what shows it best, then its ends; by place the best stay first."""
    places = {hit.memory.id: number for number, place in enumerate(listed.places, 1) for hit in place}
    lines = []
    for stay in listed.stays:
        best, number, (start_ns, end_ns) = (
            max(stay, key=attrgetter('score')),
            places[stay[0].memory.id],
            span(stay),
        )
        cited = {hit.memory.id: hit for hit in (best, stay[0], stay[-1])}
        whole = replace(best, memory=replace(best.memory, start_ns=start_ns, end_ns=end_ns))
        text = f'place {number}, {_seen(whole, call.query, question, thing)}'
        lines.append(((number, -best.score), ToldLine(text, [*cited.values()])))
    return [line for _, line in (sorted(lines, key=itemgetter(0)) if call.by == 'place' else lines)]


def _seen(hit: Hit, query: str, question: Question, thing: str = '') -> str:
    """Return when and where a memory was made, how far from which thing, and what of it is about a query."""
    memory, asked, best = hit.memory, content_stems(query), hit.passages[:1]
    wanted = [content_stems(one) for one in alternatives(query)]
    said = (*split_sentences(memory.caption), *memory.scene_text)
    parts = [part for part in (*best, *said) if any(one <= content_stems(part) for one in wanted)]
    part = max(parts or best or said, key=lambda part: len(asked & content_stems(part)), default='')
    start, end = clock(memory.start_ns, question), clock(memory.end_ns, question)
    place = f'({memory.pose.x:.1f}, {memory.pose.y:.1f})' if memory.pose else '(place unknown)'
    place += f', {hit.distance_m:.1f} m from {thing}' if thing else ''
    return f'{start} to {end} at {place}: {quoted(part[:SAID])}'


def paged(lines: Sequence[ToldLine], page: int) -> list[ToldLine]:
    """Return the lines of a page; the last says which it is, if there are others."""
    pages = -(-len(lines) // PER_PAGE)
    page = min(page, pages)
    shown = list(lines[(page - 1) * PER_PAGE : page * PER_PAGE])
    return shown if pages < 2 else [*shown, ToldLine(f'page {page} of {pages} (`page`)')]


def clock(time_ns: int, question: Question) -> str:
    """Return a time; of another day with its date."""
    date, clock, _ = format_clock(time_ns, question.zone).split(' ', 2)
    today = format_clock(question.now_ns, question.zone)[: len(date)]
    return clock if date == today else f'{date} {clock}'


class TellDay(Arguments):
    """Stays, drives and sights of a time (default today) or a floor."""

    when: str | None = Field(None, max_length=200)
    floor: int | None = Field(None, ge=-9, le=200)
    robot: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)
    near: Place | None = Field(None, json_schema_extra=UNTOLD)


def tell_day(call: TellDay, context: CallContext) -> Job:
    """Tell a time, or a floor, as a whole."""
    when = call.when or (TODAY if call.floor is None else None)
    scope = context.scope(Narrowed.model_validate({'when': when, 'robot': call.robot, 'near': call.near}))
    scope = scope if scope.place else replace(scope, map_id=None)
    context.recalls += 1
    zone = context.question.zone

    def job() -> Callable[[], str]:
        found = recall_day(context.recall, scope, zone, floor=call.floor, most=EPISODES)
        missing = '' if found.diary.days else nothing_of_day(context.recall, scope, zone)
        return lambda: _told(found, missing, context)

    return job


def _told(found: RecalledDay, missing: str, context: CallContext) -> str:
    """Return a day for the model to read: of each stay and drive the label of a memory that shows it."""
    episodes = found.diary.episodes
    context.searched.append((True, sum(len(episode.memories) for episode in episodes)))
    if missing:
        return context.evidence.tell(missing)
    context.sure = found.confidence
    wording = DayWording(episodes, context.question.zone)
    lines = [] if found.whole else ['only the latest of that time:']
    for date in found.diary.days:
        for part in date.parts:
            lines.append(context.evidence.tell(heading(date, part)))
            lines += [
                _line(episode, wording, MOST_LETTERS // len(episodes), context) for episode in part.episodes
            ]
    return '\n'.join(lines)


def _line(episode: Episode, wording: DayWording, letters: int, context: CallContext) -> str:
    ((label, *_),) = context.evidence.add([Hit(shown_by(episode), 1.0)])
    parts = [f'[{label}] {context.evidence.tell(neutral(wording.deed(episode)))}']
    left = max(letters - len(parts[0]), FEWEST_LETTERS)
    if episode.seen:
        parts.append(quoted(episode.seen[0][:left]))
        left -= len(parts[-1])
    for done in wording.done(episode, DEEDS):
        if len(done) <= left:
            parts.append(quoted(done))
            left -= len(done)
    read = ' '.join(quoted(text) for text in episode.read[:TEXTS] if len(text) <= left)
    return ', '.join([*parts, f'text {read}'] if read else parts)
