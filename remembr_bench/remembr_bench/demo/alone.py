"""The demo without ROS: its bag is read by this process, not played to nodes."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.build import build_agent
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.bags.reader import open_bag
from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.observation import Describer, Remembering, observations
from remembr_ros.captioning.still_scene import StillScene
from remembr_ros.embedding.embedders import OFFLINE
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.navigation.plan import goal_from_answer


class DemoAlone:
    """Answers as the nodes of the demo do. Use as a context manager.

    :param memory: file of the database
    :raises CaptionerFailed: what reads signs is not installed
    """

    def __init__(self, memory: Path) -> None:
        get_captioner().close()  # missing, it is told before a building is rendered
        self._memory = memory
        self._end = ExitStack()
        self._store: MemoryStore
        self._agent: Agent

    def __enter__(self) -> 'DemoAlone':
        return self

    def __exit__(self, *_: object) -> None:
        self._end.close()

    @property
    def memories(self) -> list[Memory]:
        """What was remembered."""
        return self._store.all()

    def bring_up(self) -> None:
        """There is nothing to start."""

    def play(self, bag: Path, rate: float, on_stored: Callable[[int], object]) -> None:
        """Remember what a bag shows, as fast as this machine can."""
        self._store = self._end.enter_context(open_store(str(self._memory), OFFLINE, consolidation=True))
        self._agent = build_agent(self._store, keyframes=self._store)
        with open_bag(bag) as recording, closing(get_captioner()) as captioner:
            describer = Describer(captioner, Remembering('robot'), StillScene())
            for observation in observations(recording.events(), describer):
                self._store.add([observation])
                on_stored(self._store.count())

    def ask(self, question: Question, navigate: bool = False) -> tuple[Answer, StampedPose | None]:
        """Ask the agent; return the answer, and where the robot would be sent."""
        answer = self._agent.ask(question)
        if not navigate or answer.kind is not Kind.POSITION:
            return answer, None
        goal = goal_from_answer(answer, frame_id=answer.frame_id, map_id=answer.map_id)
        return answer, StampedPose(question.now_ns, goal, answer.frame_id)
