"""Speaks answers aloud."""

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.task import Future
from std_msgs.msg import Bool

from remembr_ros.errors import SoundUnavailable
from remembr_ros.nodes.base.worker_pool import WorkerPool
from remembr_ros.speech.speaker import ProgramSpeaker

MAX_WAITING = 3  # answers that wait to be said; more would be said when nobody remembers the question
CLOSE_S = 2.0


class SpokenAnswers:
    """Says texts one after the other, off the executor, and publishes on a topic whether it speaks.

    :param speaking: publisher of std_msgs/Bool; whoever listens is deaf while it is true
    """

    def __init__(self, node: Node, speaker: ProgramSpeaker, speaking: Publisher) -> None:
        self._node = node
        self._speaker = speaker
        self._speaking = speaking
        self._worker = WorkerPool(node, 1, 'speaker')
        self._waiting: list[Future] = []
        self.said = 0
        self.dropped = 0
        self.problem = ''

    def say(self, text: str) -> None:
        """Say a text when those before are said; returns at once."""
        self._waiting = [future for future in self._waiting if not future.done()]
        if len(self._waiting) > MAX_WAITING:
            self.dropped += 1
            return
        self._waiting.append(self._worker.call(self._say, text))

    def close(self) -> None:
        """End what is being said."""
        self._speaker.stop()
        self._worker.close(CLOSE_S)

    def _say(self, text: str) -> None:
        self._speaking.publish(Bool(data=True))
        try:
            self._speaker.say(text)
            self.said += 1
            self.problem = ''
        except SoundUnavailable as error:
            self.problem = f'an answer was not spoken: {error}'
            self._node.get_logger().error(self.problem)
        finally:
            self._speaking.publish(Bool(data=False))
