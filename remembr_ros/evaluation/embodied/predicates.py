"""What a task demands of what a robot has done, after EmbodiedEval (arXiv 2501.11858)."""

from typing import NamedTuple

from remembr_ros.evaluation.tasks.goals import Predicate, Where, standing
from remembr_ros.evaluation.tasks.robot import HomeRobot


class Demand(NamedTuple):
    """That a predicate holds.

    :param check: choose: an answer; agent_at, agent_pass: it is somewhere at the end, was at any time; at: a
        thing is in a receptacle at the end; grab_once, grab: it held a thing at any time, does at the end;
        special_action_success: it did something to a thing
    :param of: number of a thing, name of a room, or the answer
    :param by: of `at` the number of the receptacle, of a special action which, such as open
    """

    check: str
    of: str
    by: str = ''


def holds(demand: Demand, robot: HomeRobot, chosen: str | None) -> bool:
    """Tell whether a demand is met now.

    :param chosen: the answer; None: there is none
    """
    (check, of, by), world, home = demand, robot.world, robot.simulator
    if check == 'choose':
        return chosen == of
    if check in ('agent_at', 'agent_pass'):
        thing = home.things.get(of)
        where = Where.AT_RECEPTACLE if thing is not None and thing.kind == 'receptacle' else Where.AT_OBJECT
        there = Predicate(Where.IN_ROOM if of in home.rooms else where, of)
        # The latest first: where it went last is most often where it was to go.
        poses = robot.poses[-1:] if check == 'agent_at' else robot.poses[::-1]
        return any(standing(pose, there, home).succeeds for pose in poses)
    if check == 'at':
        return int(of) in world.making.placed and str(world.making.placed[int(of)].receptacle) == by
    if check == 'special_action_success':
        return any((deed.kind, str(deed.item)) == (by, of) for deed in world.done)
    return world.held == int(of) if check == 'grab' else int(of) in robot.held_once
