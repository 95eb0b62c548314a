"""Tools that go over all memories: what shows something, by stays; a day, or another time, as a whole."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from remembr_ros.agent.llm.arguments import UNTOLD, Arguments, Narrowed, Place
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.llm.evidence import Evidence
from remembr_ros.agent.llm.recall_tools import Recalled, introduce
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.model.confidence import how_well
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.model.same_place import span
from remembr_ros.agent.overview.listing import listing, naming, spelling
from remembr_ros.agent.overview.recalled_day import TODAY, RecalledDay, nothing_of_day, recall_day
from remembr_ros.geometry import Pose
from remembr_ros.memory.diary.day_text import DayWording, heading, shown_by
from remembr_ros.memory.diary.episode import Episode
from remembr_ros.memory.matching.terms import content_stems, words
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.recall import Recall, every
from remembr_ros.timestamps import format_clock

EPISODES = 16  # Stays and drives that a model is told, apart from the pieces of long drives
MOST_LETTERS = 4_000  # Of all that it is told, some 1,000 tokens; a shorter time is told in more detail
FEWEST_LETTERS = 40  # Of what was seen and read, for each
TEXTS = 8
DEEDS = 3  # Of each, where there is room

PER_PAGE = 15  # Lines: some 300 tokens
PLACES = 5  # that are told, as are spellings
MEANT = 3  # memories by meaning: each may take a caption
SURE = 0.8  # What code lists of poses, and of all memories with the words, is there
FITTING = ('surely', 'likely')  # Where no memory has the words, those of which the recall says so


class ListAll(Narrowed):
    """All that show it, by stays: how many, how often, since when, where most."""

    query: str = Field(min_length=1, max_length=2_000)
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


@dataclass(frozen=True, slots=True)
class Overview:
    """Lines, the first of them a summary, and how many memories were looked at.

    :param by_meaning: what may show what was asked for in other words
    :param about: what was asked for, where nothing has its words; then nobody is sure
    """

    lines: Sequence[ToldLine]
    looked_at: int
    by_meaning: Sequence[Hit] = ()
    about: str = ''


def list_all(call: ListAll, context: CallContext) -> Job:
    """List all memories that show something."""
    question, recall = context.question, context.recall
    return _over_all(call, context, lambda scope: _list_all(call.query, call.page, question, recall, scope))


def _over_all(call: Narrowed, context: CallContext, look: Callable[[Scope], Overview]) -> Job:
    scope = context.scope(call)
    narrowed = scope.is_narrow
    context.recalls += 1

    def job() -> Callable[[], str]:
        found = look(scope)

        def tell() -> str:
            context.searched.append((narrowed, found.looked_at))
            told = [shown(line, context.evidence) for line in found.lines]
            if found.by_meaning:
                recalled = Recalled(found.by_meaning[:MEANT], found.looked_at, found.about)
                told.append(introduce(recalled, context))
            if not found.about:
                context.sure = max(context.sure, SURE)
            return '\n'.join(told)

        return tell

    return job


def shown(line: ToldLine, evidence: Evidence) -> str:
    """Return a line as a model is shown it, under the labels of its memories."""
    labels = [label for label, *_ in evidence.add(line.hits)]
    text = evidence.tell(line.text)
    if labels and line.seconds is not None:
        evidence.lasted[labels[0], labels[-1]] = line.seconds
    return f'[{", ".join(labels)}] {text}' if labels else text


def _list_all(query: str, page: int, question: Question, recall: Recall, scope: Scope) -> Overview:
    """Return all memories that show something, by stays.

    :param page: from 1 on
    """
    memories, whole = every(recall, scope)
    hits, by = naming(memories, query), 'have these words'
    named = {hit.memory.id for hit in hits}
    found = recall.find(Query(query, scope=scope, limit=100)) if memories else []
    others = [hit for hit in found if hit.memory.id not in named]
    likely = [hit for hit in others if how_well(hit.score, recall.embedder_name) in FITTING]
    if not hits:
        hits, by = likely, 'may show it, none has all the words'
    listed = listing(hits, question.same_place, recall, whole=whole)
    of = f'{len(memories)}{"" if whole else " or more"} memories'
    if not hits:
        head = f'none of {of} has these words; by meaning:' if others else f'none of {of} shows it'
        return Overview([ToldLine(head)], len(memories), others, query)
    head = f'{len(hits)} of {of} {by}: {len(listed.stays)} stays at {len(listed.places)} places'
    places = {hit.memory.id: number for number, place in enumerate(listed.places, 1) for hit in place}
    said = {hit.memory.id: spelling(hit.memory, query) for hit in hits} if named else {}
    ways = Counter(said.values())
    if len(ways) > 1 or any(len(words(way)) > len(content_stems(query)) for way in ways):
        # A bus stop sign has the words of a stop sign: whoever asks tells which is meant.
        head += f', as {", ".join(f"{quoted(way)} ({n})" for way, n in ways.most_common(PLACES))}'
    else:
        said = {}
    lines = []
    for stay in listed.stays:
        start_ns, end_ns = span(stay)
        pose = stay[0].memory.pose
        text = (
            f'{clock(start_ns, question)} to {clock(end_ns, question)} at place {places[stay[0].memory.id]}'
        )
        way = said.get(stay[0].memory.id)
        lines.append(ToldLine(f'{text} {_at(pose)}{f": {quoted(way)}" if way else ""}', (stay[0],)))
    most = sorted(listed.places, key=len, reverse=True)[:PLACES]
    often = [f'place {places[place[0].memory.id]}: {len(place)} memories' for place in most]
    lines = [ToldLine(f'{head}; {", ".join(often)}'), *paged(lines, page)]
    if by_meaning := (likely if named else hits):
        lines.append(ToldLine('by meaning:'))
    return Overview(lines, len(memories), by_meaning, '' if named else query)


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


def _at(pose: Pose | None) -> str:
    return f'({pose.x:.1f}, {pose.y:.1f})' if pose else '(place unknown)'


class TellDay(Arguments):
    """What the robot did and saw: its stays and drives in a time (default today), or on a floor."""

    when: str | None = Field(None, max_length=200)
    floor: int | None = Field(None, ge=-9, le=200)
    robot: str | None = Field(None, max_length=200, json_schema_extra=UNTOLD)
    near: Place | None = Field(None, json_schema_extra=UNTOLD)


def tell_day(call: TellDay, context: CallContext) -> Job:
    """Tell a time, or a floor, as a whole."""
    when = call.when or (TODAY if call.floor is None else None)
    given = Narrowed.model_validate({'when': when, 'robot': call.robot, 'near': call.near})
    scope = context.scope(given)
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
            lines += [_line(one, wording, MOST_LETTERS // len(episodes), context) for one in part.episodes]
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
