"""The speech node: sound becomes questions."""

import sys
from typing import Any

from std_msgs.msg import Int16MultiArray, String

from remembr_ros.nodes.lifecycle import run
from remembr_ros.nodes.managed_node import ManagedNode
from remembr_ros.nodes.parameters import SpeechParameters
from remembr_ros.nodes.worker_pool import WorkerPool
from remembr_ros.speech.audio import Audio, from_pcm
from remembr_ros.speech.utterances import UtteranceCutter
from remembr_ros.speech.wake_phrase import strip_wake_phrase
from remembr_ros.speech.whisper import WhisperTranscriber

DRAIN_TIMEOUT_S = 10.0
"""On deactivation, what was said is transcribed to the end, at most so long [s]."""


class SpeechNode(ManagedNode):
    """Subscribes audio; publishes questions on /speech, which the agent's question is remapped to."""

    parameters: SpeechParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('speech', SpeechParameters, **kwargs)
        self._transcriber: WhisperTranscriber | None = None
        self._questions: Any = None
        self._subscription: Any = None
        self._worker: WorkerPool | None = None
        self._waiting: list[Any] = []
        self._counts = {'utterances': 0, 'questions': 0, 'dropped': 0}
        self._problem = ''

    def load(self) -> None:
        p = self.parameters
        self._phrases = tuple(phrase.strip() for phrase in p.wake_phrases.split(',') if phrase.strip())
        strip_wake_phrase('', self._phrases)  # refuses a phrase without letters now
        self._transcriber = WhisperTranscriber(
            p.whisper_model, device=p.device, compute_type=p.compute_type, language=p.language or None
        )
        self._transcriber.load()
        self._questions = self.create_publisher(String, '/speech', 10)
        self.get_logger().info(f'Whisper model {self._transcriber.name}, wake phrases {self._phrases}')

    def start(self) -> None:
        p = self.parameters
        self._cutter = UtteranceCutter(
            end_silence_s=p.end_silence, max_s=p.max_utterance, threshold=p.threshold
        )
        self._worker = WorkerPool(self, 1, 'speech')
        self._waiting = []
        self._subscription = self.create_subscription(Int16MultiArray, 'audio', self._on_audio, 100)

    def stop(self) -> None:
        if self._subscription is not None:
            self.destroy_subscription(self._subscription)
            self._subscription = None
        if self._worker is not None:
            self._worker.call(self._end)
            self._worker.close(DRAIN_TIMEOUT_S)
            self._worker = None

    def release(self) -> None:
        self._transcriber = None
        if self._questions is not None:
            self.destroy_publisher(self._questions)
            self._questions = None

    def diagnose(self) -> tuple[bool, str, dict[str, Any]]:
        if self._worker is None:
            return True, '', {}
        values = {**self._counts, 'waiting': len(self._waiting)}
        return not self._problem, self._problem or 'listening', values

    # In the executor's thread

    def _on_audio(self, msg: Int16MultiArray) -> None:
        if self._worker is None:
            return
        self._waiting = [future for future in self._waiting if not future.done()]
        if len(self._waiting) >= self.parameters.queue_size:
            self._counts['dropped'] += 1
            self.get_logger().warning(
                f'Whisper is too slow: {self._counts["dropped"]} audio messages dropped so far',
                throttle_duration_sec=10.0,
            )
            return
        self._waiting.append(self._worker.call(self._hear, msg.data))

    # In the worker's thread

    def _hear(self, data: Any) -> None:
        p = self.parameters
        try:
            audio = from_pcm(data.tobytes(), channels=p.channels, rate=p.sample_rate)
            self._understand(self._cutter.add(audio))
        except Exception as error:  # noqa: BLE001  the top of the thread
            self._fail(error)

    def _end(self) -> None:
        try:
            self._understand(self._cutter.flush())
        except Exception as error:  # noqa: BLE001  the top of the thread
            self._fail(error)

    def _understand(self, utterances: list[Audio]) -> None:
        for utterance in utterances:
            if self._transcriber is None or self._questions is None:
                return  # cleaned up in the meantime
            self._counts['utterances'] += 1
            heard = self._transcriber.transcribe(utterance)
            self._problem = ''
            question = strip_wake_phrase(heard.text, self._phrases)
            self.get_logger().info(f'heard {heard.text!r}: {question or "not a question to the robot"}')
            if question is not None:
                self._counts['questions'] += 1
                self._questions.publish(String(data=question))

    def _fail(self, error: Exception) -> None:
        self._problem = f'{type(error).__name__}: {error}'
        self.get_logger().error(f'what was said was not understood: {self._problem}')


def main(args: list[str] | None = None) -> None:
    """Run the speech node until it is told to end."""
    sys.exit(run(SpeechNode, args))


if __name__ == '__main__':
    main()
