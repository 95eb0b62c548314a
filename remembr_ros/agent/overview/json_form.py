"""A day as JSON, the same for the command line and the page's API."""

from datetime import tzinfo

from typing_extensions import TypedDict

from remembr_ros.agent.overview.recalled_day import RecalledDay
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.diary.episode import Episode
from remembr_ros.memory.model.json_form import position_json
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import format_iso


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
    map_id: str
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
                    {'part': part.name, 'episodes': [_episode(one) for one in part.episodes]}
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
        'map_id': episode.map_id,
        'place': episode.place,
        'travelled': episode.driven_m,
        'seen': list(episode.seen),
        'read': list(episode.read),
        'deeds': [_deed(one) for one in episode.deeds],
        'memories': [memory.id for memory in episode.memories],
    }
