"""The speech node: from sound to questions, and from answers to speech."""

import time
from collections.abc import Mapping
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.task import Future
from std_msgs.msg import Bool, String
from std_srvs.srv import SetBool

from remembr_ros.errors import InvalidRequest, SoundUnavailable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from remembr_ros.nodes.base.worker_pool import WorkerPool
from remembr_ros.nodes.speech.listening_thread import AudioTopic, Listening
from remembr_ros.nodes.speech.parameters import SpeechParameters
from remembr_ros.speech.attention import Attention, AttentionRules, UtteranceKind
from remembr_ros.speech.listener import Listener, Understood
from remembr_ros.speech.sound.microphone import Microphone
from remembr_ros.speech.sound.source import SoundSource, WavSource
from remembr_ros.speech.speaker import ProgramSpeaker, make_speaker
from remembr_ros.speech.utterances import UtteranceCutter
from remembr_ros.speech.whisper import SileroStream, WhisperTranscriber
from remembr_ros.timestamps import NS

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


DRAIN_TIMEOUT_S = 10.0  # on deactivation, what was said is transcribed to the end, at most so long [s]
SPEAKING = '/speaking'  # true while the robot speaks, whoever makes it speak


class SpeechNode(ManagedNode):
    """Publishes the questions it hears on /speech, which the agent's question is remapped to."""

    parameters: SpeechParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('speech', SpeechParameters, **kwargs)
        self._transcriber: WhisperTranscriber | None = None
        self._listener: Listener | None = None
        self._attention = Attention()
        self._listening: Listening | None = None
        self._answers: SpokenAnswers | None = None
        self._speech_topics: dict[str, Publisher] = {}
        self._told = ''
        self._lost_s = 0.0

    def check(self, parameters: SpeechParameters) -> None:
        p = parameters
        if p.tts != 'none' and p.tts_timeout >= p.speaking_timeout:
            raise InvalidRequest(
                f'tts_timeout ({p.tts_timeout} s) has to be less than speaking_timeout '
                f'({p.speaking_timeout} s), or the robot hears the end of what it says'
            )
        attention_rules(p)  # refuses wake phrases without a word

    def adapt(self) -> None:
        self._attention.rules = attention_rules(self.parameters)

    def load(self) -> None:
        p = self.parameters
        self._attention = Attention(attention_rules(p))
        self._source = self._make_source()
        self._source.check()
        self._make_speaker()
        SileroStream().load()
        self._transcriber = WhisperTranscriber(
            p.whisper_model,
            device=p.device,
            compute_type=p.compute_type,
            language=p.language,
            beam_size=p.beam_size,
        )
        self._transcriber.load()
        self._speech_topics['speech'] = self.advertise(String, '/speech', qos.SPEECH)
        if p.tts != 'none':
            self._speech_topics['speaking'] = self.advertise(Bool, SPEAKING, qos.SPEECH)
        self.get_logger().info(
            f'Whisper model {p.whisper_model} on {self._transcriber.runs_on}, listening to '
            f'{self._source.name}, wake phrases: {p.wake_phrases or "none"}'
        )

    def start(self) -> None:
        p, source, transcriber = self.parameters, self._source, self._transcriber
        assert transcriber is not None
        cutter = UtteranceCutter(end_silence_s=p.end_silence, max_s=p.max_utterance, threshold=p.threshold)
        self._listener = Listener(cutter, transcriber, self._attention, channel=p.channel, live=source.live)
        if (speaker := self._make_speaker()) is not None:
            self._answers = SpokenAnswers(self, speaker, self._speech_topics['speaking'])
        self.topics.subscribe(String, 'answer_text', self._on_answer, qos.ANSWERS, yields=True)
        self.topics.subscribe(Bool, SPEAKING, self._on_speaking, qos.ANSWERS, yields=True)
        self.offer(SetBool, '~/mute', self._on_mute)
        # What was said of that while nobody listened is not known.
        self._attention.speak(False, time.monotonic_ns())
        self._told, self._lost_s = '', 0.0
        self._listening = Listening(
            source,
            self._listener,
            self._attention,
            self._on_understood,
            max_s=p.queue_length,
            end_silence_s=p.end_silence,
            log=self.get_logger(),
        )

    def stop(self) -> None:
        if self._listening is not None:
            self._listening.close(self.within_s(DRAIN_TIMEOUT_S))
            self._listening = None
        if self._answers is not None:
            self._answers.close()
            self._answers = None

    def release(self) -> None:
        self._transcriber = self._listener = None
        self._speech_topics = {}

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        listener, source = self._listener, self._source
        listening, transcriber = self._listening, self._transcriber
        if listening is None or listener is None or transcriber is None:
            return Level.OK, '', {}
        state = self._attention.state(time.monotonic_ns())
        lost_s, self._lost_s = listening.queue.dropped_s - self._lost_s, listening.queue.dropped_s
        values: dict[str, object] = {
            'state': state.value,
            'source': source.name,
            'whisper': transcriber.runs_on,
            'loudness [dB]': f'{listening.meter.loudness_db:.0f}',
            'clipped [%]': f'{100.0 * listening.meter.clipped:.2f}',
            'sound waiting [s]': f'{listening.queue.waiting_s:.1f}',
            'sound lost [s]': f'{listening.queue.dropped_s:.1f}',
            'last transcription [s]': f'{listener.transcribing_s:.2f}',
            'utterances': listener.verdicts.total(),
            **{f'utterances: {verdict.value}': listener.verdicts[verdict] for verdict in UtteranceKind},
        }
        problems = [listening.problem, f'Whisper is too slow: {lost_s:.1f} s lost' if lost_s > 0.0 else '']
        if self._answers is not None:
            values |= {'answers spoken': self._answers.said, 'answers dropped': self._answers.dropped}
            problems.append(self._answers.problem)
        problems.append(listening.meter.problem())
        if source.problem and source.problem != self._told:
            self.get_logger().warning(source.problem)
        self._told = source.problem
        if source.problem:
            # Who publishes sound may do so only when somebody speaks.
            return Level.WARN if self.parameters.source == 'topic' else Level.ERROR, source.problem, values
        problem = '; '.join(filter(None, problems))
        return Level.WARN if problem else Level.OK, problem or state.value, values

    def _make_source(self) -> SoundSource:
        p = self.parameters
        if p.source == 'microphone':
            return Microphone(p.microphone, channel=p.channel)
        if p.source == 'wav':
            if not p.wav_file:
                raise InvalidRequest('source wav needs wav_file, the file to hear')
            return WavSource(p.wav_file, real_time=p.wav_real_time)
        return AudioTopic(self, p.sample_rate, p.channels, p.channel)

    def _make_speaker(self) -> ProgramSpeaker | None:
        p = self.parameters
        return make_speaker(p.tts, p.tts_voice, max_characters=p.tts_max_characters, timeout_s=p.tts_timeout)

    # In the executor's thread

    def _on_answer(self, msg: String) -> None:
        self._attention.answer(time.monotonic_ns())
        if self._answers is not None:
            self._answers.say(msg.data)

    def _on_speaking(self, msg: Bool) -> None:
        self._attention.speak(msg.data, time.monotonic_ns())

    def _on_mute(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        self._attention.mute(request.data)
        response.success = True
        response.message = self._attention.state(time.monotonic_ns()).value
        self.get_logger().info(f'muted: {request.data}')
        return response

    # In the listening thread

    def _on_understood(self, understood: Understood) -> None:
        heard = understood.heard
        # What is not meant for the robot is not written down.
        addressed = heard.verdict in (UtteranceKind.QUESTION, UtteranceKind.CALL)
        text = repr(understood.transcript.text) if addressed else 'somebody'
        self.get_logger().info(
            f'heard {text} ({understood.transcript.confidence:.2f}): {heard.verdict.value}'
        )
        publisher = self._speech_topics.get('speech')
        if heard.verdict is UtteranceKind.QUESTION and publisher is not None:
            publisher.publish(String(data=heard.question))


def attention_rules(p: SpeechParameters) -> AttentionRules:
    """Return what is a question by these parameters."""
    return AttentionRules(
        phrases=tuple(phrase.strip() for phrase in p.wake_phrases.split(',') if phrase.strip()),
        follow_up_ns=round(p.follow_up * NS),
        tail_ns=round(p.echo_tail * NS),
        speaking_timeout_ns=round(p.speaking_timeout * NS),
        min_confidence=p.min_confidence,
    )


def main(args: list[str] | None = None) -> None:
    """Run the speech node until it is told to end."""
    run(SpeechNode, args)


if __name__ == '__main__':
    main()
