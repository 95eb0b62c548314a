"""The tool that tells a day, or another time, as a whole: what the robots did, and what shows it."""

from collections.abc import Callable
from dataclasses import replace

from pydantic import Field

from remembr_ros.agent.llm.arguments import UNTOLD, Arguments, Narrowed, Place
from remembr_ros.agent.llm.call_context import CallContext, Job
from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.overview.day_text import DayWording, heading, shown_by
from remembr_ros.agent.overview.episode import Episode
from remembr_ros.agent.overview.recalled_day import TODAY, RecalledDay, nothing_of_day, recall_day
from remembr_ros.memory.model.recall import Hit

EPISODES = 16  # Stays and drives that a model is told, apart from the pieces of long drives
MOST_LETTERS = 4_000  # Of all that it is told, some 1,000 tokens; a shorter time is told in more detail
FEWEST_LETTERS = 40  # Of what was seen and read, for each
TEXTS = 8
DEEDS = 3  # Of each, where there is room


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
