"""A person and a robot, each played by a language model, talk in a home. Each knows only what it should."""

import random
from dataclasses import dataclass

from remembr_bench.evaluation.baselines.forced_answer import prompt
from remembr_bench.evaluation.findingdory.episode import HomeEpisode
from remembr_bench.evaluation.talk.claims import unfounded
from remembr_bench.evaluation.talk.episode import Step, TalkEpisode, TalkTurn, ending
from remembr_bench.evaluation.tasks.chooser import Chooser
from remembr_bench.evaluation.tasks.robot import HomeRobot, Option
from remembr_bench.simulation.homes.home import name_of
from remembr_bench.simulation.homes.world import HomeWorld, world_of
from remembr_ros.agent.chat.client import ChatClient
from remembr_ros.agent.planner import Planner
from remembr_ros.errors import ChatUnavailable, ReplyInvalid
from remembr_ros.memory.recall_protocol import Recall

THINGS = 8  # that a person calls theirs
SAY = Option('say', 'say something', takes='what you say')
LEAVE = (Option('content', 'leave, content'), Option('not content', 'leave, not content'))
USED_UP = 'turns used up'


@dataclass(frozen=True)
class Talking:
    """Who talks, and for how long.

    :param planner: answers what the robot asks its memory in words
    :param turns: of the person at most; steps: of the robot in each
    :param timeout_s: for one choice [s]
    """

    user: ChatClient
    robot: ChatClient
    planner: Planner
    turns: int = 6
    steps: int = 20
    timeout_s: float = 60.0


def hold(talking: Talking, seed: int, number: int, lived: HomeEpisode, recall: Recall) -> TalkEpisode:
    """Return a talk; a language model that does not reply ends it.

    :param lived: the home's day before
    :param recall: what the robot remembers of it
    :raises StoreUnavailable: the memory does not work
    """
    here = lived.truth.here
    world = world_of(seed, lived.placements, lived.now_ns, here)
    robot = HomeRobot(world, recall, talking.planner)
    person = Chooser(talking.user, _person_prompt(world, number), talking.timeout_s)
    acting = Chooser(talking.robot, prompt('robot'), talking.timeout_s)
    yesterday = [interaction for one in lived.truth.handled for interaction in (one.picked, one.placed)]
    turns: list[TalkTurn] = []
    ended, failure, heard = USED_UP, '', ''
    try:
        while len(turns) < talking.turns:
            option, words = _reply(person, f'{heard}{_in_view_of_person(world)}', [SAY, *LEAVE])
            if option.kind != 'say':
                ended = option.kind
                break
            steps: list[Step] = []
            said = ''
            try:
                said = _robot_turn(robot, acting, words, steps, talking.steps)
            finally:  # what it did is told also when its model is out of reach
                rooms = {world.room_of(pose.x, pose.y) for pose in robot.poses}
                claims = tuple(unfounded(said, world, [*yesterday, *world.done], rooms))
                turns.append(TalkTurn(user=words, steps=tuple(steps), robot=said, unfounded=claims))
            heard = f'The robot says: {said}\n' if said else 'The robot says nothing.\n'
    except (ChatUnavailable, ReplyInvalid) as error:
        ended, failure = 'failed', str(error)
    finally:
        robot.close()
    person.ledger.charge(acting.ledger.usage)
    usage = person.ledger.usage
    return TalkEpisode(
        home=seed,
        number=number,
        start_ns=lived.now_ns,
        here=(here.x, here.y, here.yaw),
        turns=tuple(turns),
        ended=ended,
        failure=failure,
        ending=ending(world, lived.placements),
        llm_calls=usage.calls,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )


def _robot_turn(robot: HomeRobot, acting: Chooser, heard: str, steps: list[Step], limit: int) -> str:
    """Let the robot act until it says something; return that, or nothing when its steps are used up.

    :param steps: what it does is added to them
    """
    told = f'The person says: {heard}'
    while len(steps) < limit:
        option, words, before = SAY, '', len(robot.world.deeds)
        try:
            option, words = acting.choose(f'{told}\n{robot.observe()}', [SAY, *robot.options()])
            if option == SAY and words.strip():
                return words.strip()
            told = robot.do(option, words) if option != SAY else 'Error: nothing was said; give the words.'
        except ReplyInvalid as error:
            option, told = Option('', ''), f'Error: {error}.'
        deeds = tuple(robot.world.deeds[before:])
        steps.append(Step(kind=option.kind, text=option.text, words=words, outcome=told, deeds=deeds))
    return ''


def _reply(person: Chooser, told: str, options: list[Option]) -> tuple[Option, str]:
    """Return what a person chooses; one that chooses nothing is asked a second time."""
    try:
        return person.choose(told, options)
    except ReplyInvalid as error:
        return person.choose(f'Error: {error}.\n{told}', options)


def _person_prompt(world: HomeWorld, number: int) -> str:
    items = [world.item(one) for one in world.making.placed]
    small = sorted({name_of(item) for item in items if item.kind == 'small'})
    things = random.Random(f'person {number}').sample(small, min(THINGS, len(small)))
    furniture = sorted(world.called(item.number) for item in items if item.kind == 'furniture')
    return prompt('person').format(
        room=_room_of_person(world), furniture=', '.join(furniture), things=', '.join(things)
    )


def _room_of_person(world: HomeWorld) -> str:
    number = next((one for one in world.making.placed if world.item(one).label == 'person'), 0)
    return world.room_of(*world.middle(number)[:2]) if number else world.making.rooms[0].name


def _in_view_of_person(world: HomeWorld) -> str:
    """Return what a person sees: their room, and the robot if it is there."""
    room = _room_of_person(world)
    seen = [
        world.called(one)
        for one, at in sorted(world.making.placed.items())
        if world.item(one).kind == 'small' and world.room_of(*at.origin[:2]) == room
    ]
    held = f', holding the {name_of(world.item(world.held))}' if world.held else ''
    robot = f' The robot is here{held}.' if world.room == room else ' The robot is not here.'
    return f'You are in the {room} and see: {", ".join(seen) or "nothing of yours"}.{robot}'
