"""A robot with a memory that acts in a simulated home, by options that something else chooses from."""

import json
import math
import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

from remembr_bench.evaluation.datasets.sample import answer_at
from remembr_bench.simulation.homes.home import ACTIONS, OPENS, Visit, name_of
from remembr_bench.simulation.homes.home_simulator import VISIBLE_PART, HomeSimulator
from remembr_bench.simulation.homes.home_views import RATE_HZ
from remembr_bench.simulation.homes.rounds import drive
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_bench.simulation.ways import ROBOT_M
from remembr_ros.agent.agent import Agent
from remembr_ros.agent.llm.call_context import CallContext
from remembr_ros.agent.llm.tools import ANSWER, job, parse_arguments, tools_for
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.planner import Planner, Run
from remembr_ros.errors import RemembrError, StoreUnavailable
from remembr_ros.memory.model.record import OBJECT
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.navigation.plan import Rules, plan_goals
from remembr_ros.navigation.terrain import Terrain

EPISODE_S = 3600.0  # for which the memory can be asked in one episode
FAILED = 'That cannot be done'


@dataclass(frozen=True, slots=True)
class Option:
    """Something that the robot can do.

    :param kind: go, turn, pick, place, open, close, one of ACTIONS, ask, go_to_memory, or a tool of the agent
    :param text: for who chooses
    :param of: number of the thing, or name of the room
    :param takes: which words it takes; empty: none
    """

    kind: str
    text: str
    of: str = ''
    takes: str = ''


class HomeRobot:
    """A robot in a home.

    :param world: in which it acts
    :param recall: what it remembers
    :param planner: answers what its memory is asked
    :ivar poses: where it was, each half second of its drives, in the order of time
    :ivar driven_m: how far it drove
    :ivar held_once: numbers of the things that it held at any time
    """

    def __init__(self, world: HomeWorld, recall: Recall, planner: Planner) -> None:
        self.world, self._recall = world, recall
        self._agent = Agent(recall, [planner], EPISODE_S)
        self.poses, self.driven_m = [world.pose], 0.0
        self.held_once: set[int] = set()
        self._run = Run(time.monotonic() + EPISODE_S)
        self._context = CallContext(self._question('what is there'), recall, self._run)
        self._simulator: HomeSimulator | None = None
        self._seen: set[int] = set()
        self._look()

    @property
    def simulator(self) -> HomeSimulator:
        """The home as it is now."""
        if self._simulator is None:
            home, pose = self.world.home(), self.world.pose
            now = Visit(self.world.now_ns, dict(self.world.making.placed), ((pose.x, pose.y, 0),), pose.yaw)
            self._simulator = HomeSimulator(replace(home, visits=(now,)), self.world.ways)
        return self._simulator

    def close(self) -> None:
        """Let go of what it holds."""
        if self._simulator is not None:
            self._simulator.close()

    def in_view(self) -> list[int]:
        """Return the numbers of the things that it sees."""
        parts = self.simulator.parts_seen(self.world.pose)
        return [number for number in self.world.making.placed if parts[number] >= VISIBLE_PART]

    def observe(self) -> str:
        """Return where it is, what it sees and what it holds, in words."""
        held, seen = self.world.held, sorted(map(self.world.called, self.in_view()))
        return (
            f'You are in the {self.world.room}. You see {", ".join(seen) or "nothing but walls"}. '
            f'You hold {f"the {name_of(self.world.item(held))}" if held else "nothing"}.'
        )

    def options(self) -> list[Option]:
        """Return what it can do now; those of a home first, then those of its memory."""
        world = self.world
        found = [Option('turn', 'look round')]
        found += [
            Option('go', f'go to the {r.name}', r.name) for r in world.making.rooms if r.name != world.room
        ]
        there = [number for number in sorted(self._seen) if number in world.making.placed]
        found += [Option('go', f'go to the {world.called(n)}', str(n)) for n in there if not world.is_near(n)]
        for number in filter(world.is_near, there):
            name, label = self.world.called(number), world.item(number).label
            kinds = [kind for kind, labels in ACTIONS.items() if label in labels]
            kinds += [('open', 'close')[number in world.opened]] if label in OPENS else []
            found += [Option(kind, f'{kind} the {name}', str(number)) for kind in kinds]
            if world.held and world.receives(number):
                held = name_of(world.item(world.held))
                found.append(Option('place', f'put the {held} on the {name}', str(number)))
            elif not world.held and world.carries(number):
                found.append(Option('pick', f'pick up the {name}', str(number)))
        return [*_told_apart(found), *self._memory_options]

    def do(self, option: Option, words: str = '') -> str:
        """Do one of the options; return what became of it. What is impossible changes nothing.

        :raises StoreUnavailable: the memory does not work
        """
        before = len(self.world.drives)
        try:
            told = self._do(option, words.strip())
        except StoreUnavailable:
            raise
        except RemembrError as error:
            return f'{FAILED}: {error}.'
        for visit in self.world.drives[before:]:
            self.poses += [pose for _, pose in drive(visit, RATE_HZ)]
            corners = [corner[:2] for corner in visit.corners]
            self.driven_m += sum(map(math.dist, corners, corners[1:]))
        if len(self.world.drives) > before:
            self.poses.append(self.world.pose)
        self._look()
        return told

    def ask(self, question: str) -> Answer:
        """Return what its memory says.

        :raises RemembrError: there is no answer
        """
        return self._agent.ask(self._question(question))

    def go_for(self, answer: Answer) -> str:
        """Drive to where an answer wants it, by the robot's own rules.

        :raises GoalRejected: there is no such place, or none that can be driven to
        """
        terrain = Terrain(self.simulator.grid, clearance_m=ROBOT_M)
        for goal in plan_goals(answer, Rules(), terrain, here=self.world.pose).goals:
            x, y, yaw = goal.pose.x, goal.pose.y, goal.pose.yaw
            self.world.go((x, y), (x + math.cos(yaw), y + math.sin(yaw)))
        return f'You are in the {self.world.room} now.'

    def _do(self, option: Option, words: str) -> str:
        world, kind = self.world, option.kind
        number = int(option.of) if option.of.isdigit() else 0
        if kind == 'turn':
            world.go((world.pose.x, world.pose.y), turns=1)
        elif kind == 'go' and not number:
            world.go_into(option.of)
        elif kind == 'go':
            world.go_to(number)
        elif kind == 'ask':
            answer = self.ask(words)
            labels = [label for label, _, _ in self._context.evidence.add(answer.evidence)]
            return f'{answer.text} [{", ".join(labels) or "no memory"}]'
        elif kind == 'go_to_memory':
            return self.go_for(answer_at('', [self._context.evidence.cite(words).memory]))
        elif kind == 'pick':
            world.pick(number)
            self.held_once.add(number)
        elif kind == 'place':
            world.place(number)
        elif kind in ACTIONS or kind in ('open', 'close'):
            world.act(kind, number)
        else:
            self._context.question = self._question(self._context.question.text)
            return job(parse_arguments(kind, words), self._context)()()
        if kind in ('pick', 'place'):
            self.close()
            self._simulator = None
        return f'Done: {option.text}.'

    def _look(self) -> None:
        """Take in what is in view; after a turn on the spot that is all round."""
        corner = self.world.drives[-1].corners[-1]
        pose = self.world.pose
        looked = range(8) if corner[2] else (0,)
        for step in looked:
            parts = self.simulator.parts_seen(replace(pose, yaw=pose.yaw + step * math.tau / 8))
            self._seen |= {n for n in self.world.making.placed if parts[n] >= VISIBLE_PART}

    def _question(self, text: str) -> Question:
        return Question(text, self.world.now_ns, self.world.pose)

    @cached_property
    def _memory_options(self) -> list[Option]:
        tools = [tool for tool in tools_for(objects=self._context.has(OBJECT)) if tool.name != ANSWER]
        return [
            Option('ask', 'ask your memory a question', takes='the question'),
            Option('go_to_memory', 'drive to where a memory was made, or its object is', takes='its label'),
            *(
                Option(
                    tool.name,
                    f'{tool.name}: {tool.description}',
                    takes=f'JSON: {json.dumps(tool.parameters)}',
                )
                for tool in tools
            ),
        ]


def _told_apart(options: list[Option]) -> list[Option]:
    """Return options no two of which have one text."""
    times = Counter(option.text for option in options)
    return [
        replace(option, text=f'{option.text} (thing {option.of})') if times[option.text] > 1 else option
        for option in options
    ]
