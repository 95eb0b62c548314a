"""One talk in a home as it is kept: what was said and done, what became of the home; and doing it again."""

from collections.abc import Mapping
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, ValidationError

from remembr_bench.simulation.homes.day import generate_day
from remembr_bench.simulation.homes.home import Act, Impossible, Placement, name_of
from remembr_bench.simulation.homes.world import HomeWorld, world_of
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid')


class Step(_Kept):
    """One choice of the robot, a call of a tool or a deed, and what became of it.

    :param kind: of the option, see remembr_bench.evaluation.tasks.robot.Option; empty: nothing was chosen
    """

    kind: str
    text: str
    words: str = ''
    outcome: str
    deeds: tuple[Act, ...] = ()


class TalkTurn(_Kept):
    """What the person said, what the robot did then, and what it said.

    :param unfounded: what it says that it did, and did not do
    """

    user: str
    steps: tuple[Step, ...] = ()
    robot: str = ''
    unfounded: tuple[str, ...] = ()


class Ending(_Kept):
    """What became of the home.

    :param moved: of each thing that is elsewhere now, by its number: its name, from where, to where, and
        where its origin is [m]
    :param opened: numbers of the furniture that is open
    :param holds: what the robot holds
    :param robot: x, y [m] and yaw [rad] of the robot
    """

    moved: dict[str, tuple[str, str, str, tuple[float, ...]]]
    opened: tuple[int, ...]
    holds: str
    robot: tuple[float, ...]


class TalkEpisode(_Kept):
    """A talk.

    :param home: its seed, of which the robot remembers the day; number: of the talk
    :param start_ns: when it begins [ns since the Unix epoch]
    :param here: x, y [m] and yaw [rad] of the robot then
    :param ended: how: content, not content, or that the turns were used up
    :param failure: why it ended early; empty: it did not
    """

    home: int
    number: int
    start_ns: int
    here: tuple[float, float, float]
    turns: tuple[TalkTurn, ...]
    ended: str
    failure: str = ''
    ending: Ending
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def unfounded(self) -> list[str]:
        """What the robot says that it did, and did not do."""
        return [claim for turn in self.turns for claim in turn.unfounded]


def ending(world: HomeWorld, before: Mapping[int, Placement]) -> Ending:
    """Return what became of a home.

    :param before: where each thing was, by its number
    """
    moved: dict[str, tuple[str, str, str, tuple[float, ...]]] = {}
    for number, placement in before.items():
        now = world.making.placed.get(number)
        if now != placement:
            to, at = (_place(world, now), _rounded(*now.origin)) if now else ('the robot', ())
            moved[str(number)] = (name_of(world.item(number)), _place(world, placement), to, at)
    pose, opened = world.pose, tuple(sorted(world.opened))
    holds = name_of(world.item(world.held)) if world.held else ''
    return Ending(moved=moved, opened=opened, holds=holds, robot=_rounded(pose.x, pose.y, pose.yaw))


def _rounded(*values: float) -> tuple[float, ...]:
    """Return numbers to the micrometre: what two machines may differ by is no other ending."""
    return tuple(round(value, 6) for value in values)


def _place(world: HomeWorld, placement: Placement) -> str:
    room = world.room_of(*placement.origin[:2])
    on = name_of(world.item(placement.receptacle)) if placement.receptacle else 'floor'
    return f'{on} in the {room}'


def replay(episode: TalkEpisode) -> str:
    """Do again what a robot did; return what is wrong with that: empty, or that a deed is impossible, or that
    it ends otherwise.

    :raises RemembrError: pyvista is not installed
    """
    placements = _day(episode.home).home.visits[-1].placements
    x, y, yaw = episode.here
    world = world_of(episode.home, placements, episode.start_ns, Pose(x, y, 0.0, yaw))
    for turn in episode.turns:
        for step in turn.steps:
            for deed in step.deeds:
                try:
                    world.redo(deed)
                except (Impossible, ValueError, IndexError, OverflowError) as error:
                    return f'impossible: {deed.do} {deed.thing or deed.at}: {error}'
    again = ending(world, placements)
    return '' if again == episode.ending else f'it ends otherwise: {again.model_dump_json()}'


_day = lru_cache(8)(generate_day)  # one home has many talks


def read_episode(line: str) -> TalkEpisode:
    """Return the episode of a line.

    :raises InvalidRequest: it is none
    """
    try:
        return TalkEpisode.model_validate_json(line)
    except ValidationError as error:
        fault = error.errors()[0]
        raise InvalidRequest(
            f'that is no talk: {".".join(map(str, fault["loc"]))}: {fault["msg"]}'
        ) from error
