"""A day in words: one sentence for each stay and drive."""

from collections.abc import Sequence
from datetime import tzinfo

from remembr_ros.memory.diary.day import Diary, DiaryDay, PartOfDay
from remembr_ros.memory.diary.episode import Episode, EpisodeKind
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.memory.places.place import said_name
from remembr_ros.timestamps import format_clock, format_duration


def day_lines(diary: Diary, zone: tzinfo, sentences: int = 2, texts: int = 8) -> str:
    """Return a diary as a list to show or to speak: a line for each part of a day, and for each episode.

    :param sentences: of each episode, at most
    :param texts: the same, of what could be read
    """
    wording = DayWording(diary.episodes, zone)
    lines = []
    for day in diary.days:
        for part in day.parts:
            lines.append(heading(day, part))
            lines += [wording.sentence(episode, sentences, texts) for episode in part.episodes]
    return '\n'.join(lines)


def heading(day: DiaryDay, part: PartOfDay) -> str:
    """Return which part of which day it is."""
    return f'{day.date:%A}, {day.date.isoformat()}, {part.name}:'


DEEDS = 20  # Of an episode that are told


class DayWording:
    """Says what robots did, and who of several and on which of several maps.

    :param episodes: all that are told
    :param zone: the asker's time zone
    """

    def __init__(self, episodes: Sequence[Episode], zone: tzinfo) -> None:
        self._zone = zone
        self._with_robot = len({episode.robot for episode in episodes}) > 1
        self._with_map = len({episode.map_id for episode in episodes}) > 1

    def deed(self, episode: Episode) -> str:
        """Return when and where a robot stood or drove: '09:00:05 to 09:00:09 stood 4 seconds at (1, 2)'."""
        start, end = (format_clock(ns, self._zone)[11:19] for ns in (episode.start_ns, episode.end_ns))
        robot = f'{episode.robot} ' if self._with_robot else ''
        lasted, place = format_duration(episode.seconds), self._place(episode)
        if episode.kind is EpisodeKind.STAY:
            stood = 'stood' if any(memory.source != AGENT for memory in episode.memories) else 'was busy'
            return f'{start} to {end} {robot}{stood} {lasted} at {place}'
        return f'{start} to {end} {robot}drove {episode.driven_m:.0f} m to {place}'

    def sentence(self, episode: Episode, sentences: int, texts: int) -> str:
        """Return what a robot did, saw and read."""
        parts = [f'{self.deed(episode)}.', *map(_ended, episode.seen[:sentences])]
        if episode.read:
            read = ', '.join(f'"{text}"' for text in episode.read[:texts])
            parts.append(f'Read: {read}.')
        parts += self.done(episode)
        return ' '.join(parts)

    def done(self, episode: Episode, most: int = DEEDS) -> list[str]:
        """Return what a robot did itself: 'At 09:00:05: Picked the cup from the table.'"""
        lines = [
            f'At {format_clock(deed.start_ns, self._zone)[11:19]}: {_ended(deed.caption)}'
            for deed in episode.deeds[:most]
        ]
        left = len(episode.deeds) - len(lines)
        return [*lines, f'And {left} more.'] if left > 0 else lines

    def _place(self, episode: Episode) -> str:
        place = 'a place unknown'
        if episode.pose is not None:
            x, y, z = episode.pose.position
            place = f'({x:.1f}, {y:.1f})' if abs(z) < 0.05 else f'({x:.1f}, {y:.1f}, {z:.1f})'
        place += f' in {said_name(episode.place)}' if episode.place else ''
        return f'{place} on map {episode.map_id}' if self._with_map and episode.map_id else place


def shown_by(episode: Episode) -> Memory:
    """Return the memory that shows most of what is said of an episode."""
    texts = [text.rstrip('\u2026').casefold() for text in episode.seen[:1]]
    return max(
        episode.memories,
        key=lambda memory: (any(s in memory.caption.casefold() for s in texts), len(memory.scene_text)),
    )


def _ended(text: str) -> str:
    return text if text.rstrip('"\')').endswith(('.', '!', '?', '\u2026')) else f'{text}.'
