"""A day of a memory, by the words for its time, in lines and as JSON; and which days there are."""

from dataclasses import dataclass, replace
from datetime import date, timezone, tzinfo

from typing_extensions import TypedDict

from remembr_ros.agent.overview.floors import on_floor
from remembr_ros.agent.times.time_window import parse_span
from remembr_ros.errors import NothingRemembered
from remembr_ros.forms.questions import DayForm
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.diary.day import MOST, Diary, diary
from remembr_ros.memory.diary.day_text import day_lines
from remembr_ros.memory.diary.episode import Episode
from remembr_ros.memory.model.codec import position_json
from remembr_ros.memory.model.recall import ANYTHING, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.places import known_places
from remembr_ros.memory.recall_protocol import Recall, every
from remembr_ros.timestamps import format_iso, local, to_ns

MOST_DAYS = 7  # That are named where nothing is remembered of the one asked for
TODAY = 'today'

_SURE = {'': 0.95, 'map': 0.95, 'height': 0.85, 'text': 0.6}
"""By what tells the floor; by judgement: a time is exact."""


@dataclass(frozen=True, slots=True)
class RecalledDay:
    """What there is of a time.

    :param by: what told the floor, as in OnFloor; empty: nothing did, or none was asked for
    :param whole: all memories of that time were looked at; else the diary begins with the first that was
    """

    diary: Diary
    by: str = ''
    whole: bool = True

    @property
    def confidence(self) -> float:
        """How likely what is told is of the time and the floor asked for."""
        return _SURE[self.by]

    def lines(self, zone: tzinfo, sentences: int = 2, texts: int = 8) -> str:
        """Return it as a list to show or to speak; see day_text.day_lines."""
        text = day_lines(self.diary, zone, sentences, texts)
        return text if self.whole else f'Only the latest that is remembered of that time:\n{text}'


def scope_of_day(asked: DayForm, now_ns: int, zone: tzinfo) -> Scope:
    """Return the scope of a time in words, such as 'yesterday afternoon'.

    :raises InvalidRequest: the words name no time
    """
    window = parse_span(asked.day.strip() or TODAY, now_ns, zone)
    return Scope(window.after_ns, window.before_ns, robots=asked.robot, map_id=asked.map, place=asked.place)


def recall_day(
    recall: Recall, scope: Scope, zone: tzinfo, *, floor: int | None = None, most: int = MOST
) -> RecalledDay:
    """Return what robots did and saw in the time of a scope.

    :param floor: only what was on this one, counted as in floors
    :raises StoreUnavailable: there is no store
    """
    memories, whole = every(recall, scope)
    by = ''
    if floor is not None:
        found = on_floor(memories, floor)
        memories, by = list(found.memories), found.by
    after_ns = scope.after_ns if whole else None
    day = diary(memories, zone, after_ns, scope.before_ns, most, places=known_places(recall))
    return RecalledDay(day, by, whole)


def day_of(recall: Recall, scope: Scope, zone: tzinfo) -> RecalledDay:
    """Return what recall_day does.

    :raises NothingRemembered: of that time; the message names days of which there is something
    """
    day = recall_day(recall, scope, zone)
    if not day.diary.days:
        raise NothingRemembered(nothing_of_day(recall, scope, zone))
    return day


def nothing_of_day(recall: Recall, scope: Scope, zone: tzinfo) -> str:
    """Return a sentence that nothing is remembered of a time, and of which days there is something."""
    days = [
        day.isoformat()
        for day in days_remembered(recall, replace(scope, after_ns=None, before_ns=None), zone)
    ]
    if not days:
        robots = f' of {", ".join(scope.robots)}' if scope.robots else ''
        return f'The memory holds nothing{robots}.'
    more = ' and earlier' if len(days) > MOST_DAYS else ''
    return f'Nothing is remembered of that time; there are memories of {", ".join(days[:MOST_DAYS])}{more}.'


def days_remembered(recall: Recall, scope: Scope = ANYTHING, zone: tzinfo = timezone.utc) -> list[date]:
    """Return the days of which there are memories, the latest first; no more than MOST_DAYS + 1."""
    found: list[date] = []
    left: Scope | None = scope
    while left is not None and len(found) <= MOST_DAYS:
        newest = recall.find(Query(scope=left, limit=1))
        if not newest:
            break
        end_ns = newest[0].memory.end_ns
        end_ns = end_ns if left.before_ns is None else min(end_ns, left.before_ns)
        midnight = local(end_ns, zone).replace(hour=0, minute=0, second=0, microsecond=0)
        found.append(midnight.date())
        left = scope.within(None, to_ns(midnight) - 1) if to_ns(midnight) > 0 else None
    return found


class DeedJson(TypedDict):
    """What a robot did itself: the id of the memory, when, a sentence, and how it ended."""

    id: str
    start: str
    end: str
    text: str
    outcome: str


class EpisodeJson(TypedDict):
    """A stay or a drive: where, metres driven, what was seen, read and done, the ids of its memories."""

    kind: str
    robot: str
    start: str
    end: str
    position: list[float] | None
    frame_id: str
    map: str
    place: str
    travelled: float | None
    seen: list[str]
    read: list[str]
    deeds: list[DeedJson]
    memories: list[str]


class PartOfDayJson(TypedDict):
    """What began in the night, the morning, the afternoon or the evening."""

    part: str
    episodes: list[EpisodeJson]


class DiaryDayJson(TypedDict):
    """One day of the calendar."""

    date: str
    parts: list[PartOfDayJson]


class DayJson(TypedDict):
    """What robots did and saw in a time; whole: all memories of it were looked at. text: a list to show."""

    start: str
    end: str
    whole: bool
    days: list[DiaryDayJson]
    text: str


def day_json(found: RecalledDay, zone: tzinfo) -> DayJson:
    """Return a day as `remembr day --json` prints it."""
    diary = found.diary
    return {
        'start': format_iso(diary.start_ns),
        'end': format_iso(diary.end_ns),
        'whole': found.whole,
        'days': [
            {
                'date': day.date.isoformat(),
                'parts': [
                    {'part': part.name, 'episodes': [_episode(episode) for episode in part.episodes]}
                    for part in day.parts
                ],
            }
            for day in diary.days
        ],
        'text': found.lines(zone),
    }


def _deed(deed: Memory) -> DeedJson:
    start, end = format_iso(deed.start_ns), format_iso(deed.end_ns)
    facts = facts_of(deed)
    outcome = 'unknown' if facts is None else facts.outcome
    return {'id': deed.id, 'start': start, 'end': end, 'text': deed.caption, 'outcome': outcome}


def _episode(episode: Episode) -> EpisodeJson:
    return {
        'kind': episode.kind.value,
        'robot': episode.robot,
        'start': format_iso(episode.start_ns),
        'end': format_iso(episode.end_ns),
        'position': position_json(episode.pose),
        'frame_id': episode.frame_id,
        'map': episode.map_id,
        'place': episode.place,
        'travelled': episode.driven_m,
        'seen': list(episode.seen),
        'read': list(episode.read),
        'deeds': [_deed(deed) for deed in episode.deeds],
        'memories': [memory.id for memory in episode.memories],
    }
