"""Tasks tried in a simulated place: from an answer to poses, and what of the goal these reach."""

import math
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from remembr_bench.evaluation.datasets.sample import DecidedPlanner, Marks, answer_at
from remembr_bench.evaluation.records.config import PlannerName
from remembr_bench.evaluation.tasks.goals import Predicate, Quantifier, Task, length, reached, spl, standing
from remembr_bench.simulation.simulator import Simulator
from remembr_bench.simulation.ways import ROBOT_M
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.agent.planner import Planner
from remembr_ros.errors import GoalRejected, NoPlace
from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.memory.model.record import CAPTIONER, Memory
from remembr_ros.navigation.plan import Rules, plan_goals
from remembr_ros.navigation.terrain import Terrain


@dataclass(frozen=True)
class SimulatedTrial:
    """Tasks in a simulator.

    :param tasks: by id, each with the shortest way to its goal [m]
    :param memories: what the robot remembers
    :param start: where it stands when it is given a task
    """

    simulator: Simulator
    tasks: Mapping[str, tuple[Task, float]]
    memories: Sequence[Memory]
    start: Pose

    def planner(self, name: str, sample_id: str, seed: int) -> Planner | None:
        """Return the planners that choose by chance, and by the truth; None: it is another one."""
        if name == PlannerName.RANDOM.value:
            memories = self._by_chance(self.tasks[sample_id][0], seed)
        elif name == PlannerName.ORACLE.value:
            memories = self._by_truth(self.tasks[sample_id][0])
        else:
            return None
        missing = Answer(Kind.NOT_SEEN, 'There is no such memory.', name)
        return DecidedPlanner(name, answer_at(name, memories) if memories else missing)

    def score(
        self, sample_id: str, answer: Answer | None, judge: Marks | None = None
    ) -> tuple[bool, dict[str, float], str]:
        """Return whether the goal is reached, the figures of all that is measured, and why nothing is.

        Figures: hl_sr, hl_spl, dtg_sr, sc_sr, ll_sr_all; where the goal is reached ll_sr and ll_spl.
        """
        task, shortest_m = self.tasks[sample_id]
        try:
            poses, why = self._goals(answer), ''
        except (GoalRejected, NoPlace) as error:
            poses, why = [], str(error)
        high = reached(task.goal, poses, self.simulator)
        driven_m = length(self.start, poses, self.simulator) if poses else math.inf
        figures = {
            'hl_sr': float(high.success),
            'hl_spl': spl(success=high.success, driven_m=driven_m, shortest_m=shortest_m),
            'dtg_sr': float(high.distance),
            'sc_sr': float(high.seen),
        }
        ended, driven_m = drive_to(self.start, poses, self.simulator)
        low = bool(poses) and len(ended) == len(poses) and reached(task.goal, ended, self.simulator).success
        figures['ll_sr_all'] = float(low)
        if high.success:
            figures['ll_sr'] = float(low)
            figures['ll_spl'] = spl(success=low, driven_m=driven_m, shortest_m=shortest_m)
        return high.success, figures, why

    def close(self) -> None:
        self.simulator.close()

    @cached_property
    def _terrain(self) -> Terrain:
        return Terrain(self.simulator.grid, clearance_m=ROBOT_M)

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(memory.id for memory in self.memories)

    def _goals(self, answer: Answer | None) -> list[Pose]:
        """Return where the robot would drive to for an answer, by its own rules.

        :raises GoalRejected: it would not; or the answer names a memory that is not there
        :raises NoPlace: the answer has none
        """
        if answer is None:
            raise NoPlace('there is no answer')
        if unknown := [hit.memory.id for hit in answer.evidence if hit.memory.id not in self._ids]:
            raise GoalRejected(f'the answer names {unknown[0]!r}, which is no memory of this episode')
        plan = plan_goals(answer, Rules(), self._terrain, here=self.start)
        return [stamped.pose for stamped in plan.goals]

    def _by_chance(self, task: Task, seed: int) -> list[Memory]:
        rng = random.Random(f'{task.id} {task.instruction} {seed}')
        placed = [memory for memory in self.memories if memory.pose is not None]
        one = task.goal.quantifier is Quantifier.EXISTS
        return rng.sample(placed, min(1 if one else len(task.goal.parts), len(placed)))

    def _by_truth(self, task: Task) -> list[Memory]:
        """Return memories whose places reach the goal, the nearest of them, as far as there are any.

        Those come first that do so also where the robot stops short; of several places sights are none: the
        robot takes those that are near each other for one.
        """
        parts, one = task.goal.parts, task.goal.quantifier is Quantifier.EXISTS
        chosen = []
        for some in [parts] if one else [[part] for part in parts]:
            there = [
                (memory, pose)
                for memory, pose in self._goal_of
                if (one or memory.source != CAPTIONER) and self._holds(some, pose)
            ]
            ends = ((memory, drive_to(self.start, [pose], self.simulator)[0]) for memory, pose in there)
            sure = (memory for memory, ended in ends if ended and self._holds(some, ended[0]))
            chosen += [next(sure, there[0][0])] if there else []
        return chosen

    def _holds(self, parts: Sequence[Predicate], pose: Pose) -> bool:
        return any(standing(pose, part, self.simulator).succeeds for part in parts)

    @cached_property
    def _goal_of(self) -> list[tuple[Memory, Pose]]:
        """The memories to which the robot would drive, and where it would stand then, the nearest first."""
        found = []
        for memory in self.memories:
            with suppress(GoalRejected, NoPlace):
                found.append((memory, self._goals(answer_at('', [memory]))[0]))
        ways = self.simulator.metres(
            (self.start.x, self.start.y), np.array([(pose.x, pose.y) for _, pose in found]).reshape(-1, 2)
        )
        return [found[i] for i in np.argsort(ways).tolist()]


WITHIN_M, WITHIN_RAD = 0.25, 0.25  # of a goal, where Nav2's goal checker is content by default


def drive_to(start: Pose, poses: Sequence[Pose], simulator: Simulator) -> tuple[list[Pose], float]:
    """Drive from pose to pose on the shortest ways; return where the robot ended each time, and how far it
    drove [m]. What it cannot reach ends the drive.

    It stops as soon as it is within WITHIN_M, and turns as little as WITHIN_RAD allows.
    """
    at, driven, ended = start, 0.0, []
    for goal in poses:
        corners = simulator.way((at.x, at.y), (goal.x, goal.y))
        if not corners:
            break
        at, metres = _along(corners, goal, at.yaw)
        driven += metres
        ended.append(at)
    return ended, driven


def _along(corners: Sequence[tuple[float, float]], goal: Pose, yaw: float) -> tuple[Pose, float]:
    """Return where a robot is when it has arrived, and how far it drove [m]."""
    driven, here = 0.0, corners[0]
    for to in corners[1:]:
        leg = math.dist(here, to)
        if leg > 0.0:
            yaw = math.atan2(to[1] - here[1], to[0] - here[0])
        part = 1.0
        if to == corners[-1]:
            part = max(leg - WITHIN_M, 0.0) / leg if leg > 0.0 else 0.0
        driven += part * leg
        here = (here[0] + part * (to[0] - here[0]), here[1] + part * (to[1] - here[1]))
    left = wrap_angle(goal.yaw - yaw)
    turned = wrap_angle(goal.yaw - math.copysign(WITHIN_RAD, left)) if abs(left) > WITHIN_RAD else yaw
    return Pose(*here, 0.0, turned), driven
