"""The thread that turns sound, of a topic or elsewhere, into questions, off the executor."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.qos import QoSProfile
from std_msgs.msg import Int16MultiArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.speech.attention import Attention
from remembr_ros.speech.listener import Listener, Understood
from remembr_ros.speech.sound.audio import Block, decode_pcm
from remembr_ros.speech.sound.level import LevelMeter
from remembr_ros.speech.sound.source import Deliver, SoundQueue, SoundSource

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


IDLE_S = 1.0  # without sound for so long after a pause that ends a question, the last is understood


class Listening:
    """Connects a source with a listener until it is closed.

    :param take: takes what is understood; called on the thread
    :param max_s: sound that may wait for the transcriber [s]
    :param end_silence_s: pause that ends a question [s]
    :param log: a node's logger
    """

    def __init__(
        self,
        source: SoundSource,
        listener: Listener,
        attention: Attention,
        take: Callable[[Understood], None],
        *,
        max_s: float,
        end_silence_s: float,
        log: RcutilsLogger,
    ) -> None:
        self._source = source
        self._listener = listener
        self._attention = attention
        self._take = take
        self._idle_s = end_silence_s + IDLE_S if source.live else None
        self._log = log
        self.queue = SoundQueue(max_s)
        self.meter = LevelMeter()
        self.problem = ''  # what went wrong last; empty: nothing since
        self._thread = threading.Thread(target=self._run, name='listening', daemon=True)
        # First what may fail, as a thread would stay behind.
        source.start(self._deliver)
        self._thread.start()

    def close(self, timeout_s: float) -> None:
        """End the source; understand what was heard, at most so long."""
        self.queue.close()
        self._source.stop()
        self._thread.join(timeout_s)

    def _deliver(self, block: Block | None) -> None:
        """Take sound in the source's thread."""
        if block is not None:
            self.meter.add(block)
            if self._attention.deaf(block.heard_ns):
                block = replace(block, frames=np.zeros_like(block.frames))
        self.queue.put(block, wait=block is None or not self._source.live)

    def _run(self) -> None:
        while True:
            ended = False
            try:
                try:
                    block = self.queue.get(self._idle_s)
                    ended = block is None and self.queue.closed
                except TimeoutError:
                    block = None
                understood = self._listener.end() if block is None else self._listener.hear(block)
                self.problem = self._listener.problem
                for utterance in understood:
                    self._take(utterance)
            except Exception as error:  # noqa: BLE001  the top of the thread
                self.problem = f'{type(error).__name__}: {error}'
                self._log.error(
                    f'what was said was not understood: {self.problem}', throttle_duration_sec=10.0
                )
            if ended:
                return
