"""Sound from a topic."""

import time

from rclpy.qos import QoSProfile
from std_msgs.msg import Int16MultiArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.speech.sound.audio import Block, decode_pcm
from remembr_ros.speech.sound.source import Deliver

TOPIC = 'audio'
SILENT_S = 5.0  # nobody publishes when nothing came for so long
DEPTH = 100


class AudioTopic:
    """Delivers what is published on the topic audio; a SoundSource. A message's layout is not looked at.

    :param rate: of what is published [Hz]
    :param channels: of what is published, interleaved
    """

    live = True

    def __init__(self, node: ManagedNode, rate: int, channels: int, channel: int) -> None:
        self._node = node
        self._rate = rate
        self._channels = channels
        self._channel = channel
        self._listening = False
        self._heard_at = 0.0

    @property
    def name(self) -> str:
        return f'topic {self._node.resolve_topic_name(TOPIC)}'

    @property
    def problem(self) -> str:
        silent_s = time.monotonic() - self._heard_at
        if not self._listening or silent_s < SILENT_S:
            return ''
        return f'nothing is published on {self.name}: start what publishes it, or remap the topic audio'

    def check(self) -> None:
        """Raise InvalidRequest if there is no such channel."""
        if self._channel > self._channels:
            raise InvalidRequest(f'channel is {self._channel}, but the sound has {self._channels} (channels)')

    def start(self, deliver: Deliver) -> None:
        self._heard_at = time.monotonic()

        def hear(msg: Int16MultiArray) -> None:
            self._heard_at = time.monotonic()
            frames = decode_pcm(msg.data.tobytes(), channels=self._channels)
            if frames.size:
                deliver(Block(frames, self._rate, time.monotonic_ns()))

        self._node.topics.subscribe(Int16MultiArray, TOPIC, hear, QoSProfile(depth=DEPTH), yields=True)
        self._listening = True

    def stop(self) -> None:
        self._listening = False  # the subscription ends with the others of the node
