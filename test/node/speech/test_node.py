import array
import sys
import warnings
import wave
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import Bool, Int16MultiArray, String
from std_srvs.srv import SetBool

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.speech import node as speech_node
from remembr_ros.nodes.speech.node import SpeechNode
from remembr_ros.speech import utterances
from remembr_ros.speech.transcriber import Transcript
from remembr_ros.speech.utterances import WINDOW
from test.unit.speech import tiny_whisper


class Whisper:
    """Says what it is told to have heard; records the sound."""

    said = ''
    confidence = 0.9
    runs_on = 'nothing'

    def __init__(self, model, **options) -> None:
        self.name = model
        self.options = options
        self.heard: list[np.ndarray] = []

    def load(self) -> None:
        if self.name == 'missing':
            raise TranscriberUnavailable('there is no such model')

    def transcribe(self, audio):
        self.heard.append(audio)
        if self.said == 'broken':
            raise TranscriberUnavailable('it does not work')
        return Transcript(self.said, 'en', self.confidence)


class Loud:
    """Takes for speech what is loud."""

    def load(self) -> None:
        pass

    def __call__(self, windows):
        return (np.abs(windows.reshape(-1, WINDOW)).max(axis=1) > 0.1).astype(np.float32)


@pytest.fixture
def said(monkeypatch):
    monkeypatch.setattr(speech_node, 'WhisperTranscriber', Whisper)
    monkeypatch.setattr(speech_node, 'SileroStream', Loud)
    monkeypatch.setattr(utterances, 'SileroStream', Loud)
    return lambda text: monkeypatch.setattr(Whisper, 'said', text)


def utterance(rate: int = 16_000, channels: int = 1, level: int = 8_000) -> list[Int16MultiArray]:
    """Return a second of sound and 1.2 s of silence in eleven messages."""
    samples = np.repeat(np.array([level] * rate + [0] * (rate * 6 // 5), np.int16), channels)
    return [Int16MultiArray(data=array.array('h', part.tobytes())) for part in np.split(samples, 11)]


def speak(talk, **options) -> None:
    for msg in utterance(**options):
        talk.publish(msg)


def told(node, what: str):
    return node.diagnose()[2].get(what)


def test_speech_to_the_robot_becomes_a_question(robot, said):
    said('Hey robot, where is the printer?')
    robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    speak(robot.talk(Int16MultiArray, 'audio'))
    robot.wait(lambda: questions, 'a question')
    assert questions[0].data == 'where is the printer?'


def test_other_speech_is_no_question(robot, said):
    said('Where is the printer?')
    node = robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    speak(talk)
    robot.wait(lambda: told(node, 'utterances') == 1, 'an utterance')
    assert told(node, 'utterances: not meant for the robot') == 1
    said('Robot, where am I?')
    speak(talk)
    robot.wait(lambda: questions, 'a question')
    assert [msg.data for msg in questions] == ['where am I?']


def test_speech_that_is_not_understood_well_enough_is_no_question(robot, said, monkeypatch):
    said('Robot, where am I?')
    monkeypatch.setattr(Whisper, 'confidence', 0.2)
    node = robot.start(SpeechNode, min_confidence=0.25)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    speak(talk)
    robot.wait(lambda: told(node, 'utterances: not understood well enough') == 1, 'an utterance')
    monkeypatch.setattr(Whisper, 'confidence', 0.25)
    speak(talk)
    robot.wait(lambda: questions, 'a question')
    assert len(questions) == 1


def test_without_wake_phrases_all_speech_is_questions_at_any_rate(robot, said):
    said('Where is the printer?')
    node = robot.start(SpeechNode, wake_phrases='', sample_rate=48_000, channels=2)
    questions = robot.listen(String, '/speech')
    speak(robot.talk(Int16MultiArray, 'audio'), rate=48_000, channels=2)
    robot.wait(lambda: questions, 'a question')
    heard = node._transcriber.heard[0]
    assert np.count_nonzero(heard > 0.1) == pytest.approx(16_000, abs=20)
    assert told(node, 'state') == 'everything is a question'


def test_after_an_answer_the_next_question_needs_no_wake_phrase(robot, said):
    said('and the cups?')
    node = robot.start(SpeechNode, follow_up=60.0)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    robot.talk(String, 'answer_text').publish(String(data='They are in the kitchen.'))
    robot.wait(lambda: told(node, 'state') == 'open to a follow-up question', 'the follow-up window')
    speak(talk)
    robot.wait(lambda: questions, 'a question')
    speak(talk)
    robot.wait(lambda: told(node, 'utterances') == 2, 'a second utterance')
    assert [msg.data for msg in questions] == ['and the cups?']


def test_while_the_robot_speaks_nothing_is_heard(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode, echo_tail=0.0)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    speaking = robot.talk(Bool, '/speaking')
    speaking.publish(Bool(data=True))
    robot.wait(lambda: told(node, 'state') == 'deaf while the robot speaks', 'deafness')
    speak(talk)
    robot.wait(lambda: node._listener._cutter.place >= 35_200, 'all the sound')
    speaking.publish(Bool(data=False))
    robot.wait(lambda: told(node, 'state') == 'waiting for the wake phrase', 'the end of deafness')
    assert node._transcriber.heard == []
    speak(talk)
    robot.wait(lambda: questions, 'a question')
    assert told(node, 'utterances') == 1


def test_a_speaker_that_died_does_not_leave_it_deaf(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode, speaking_timeout=1.0, echo_tail=0.0)
    robot.talk(Bool, '/speaking').publish(Bool(data=True))
    robot.wait(lambda: told(node, 'state') == 'deaf while the robot speaks', 'deafness')
    robot.wait(lambda: told(node, 'state') == 'waiting for the wake phrase', 'the end of deafness')


def test_it_can_be_muted_and_stays_so_when_it_is_activated_again(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    response = robot.call(SetBool, 'speech/mute', SetBool.Request(data=True))
    assert response.success
    assert response.message == 'muted'
    for transition in ('deactivate', 'activate'):
        assert getattr(node, f'trigger_{transition}')() == TransitionCallbackReturn.SUCCESS
    talk = robot.talk(Int16MultiArray, 'audio')
    speak(talk)
    robot.wait(lambda: node._listener._cutter.place >= 35_200, 'all the sound')
    assert node._transcriber.heard == []
    assert node.diagnose()[1] == 'muted'
    assert robot.call(SetBool, 'speech/mute', SetBool.Request(data=False)).success
    speak(talk)
    robot.wait(lambda: questions, 'a question')


def test_what_is_being_said_when_it_is_deactivated_is_still_understood(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance()[:5]:
        talk.publish(msg)
    robot.wait(lambda: node._listener._cutter.place == 16_000, 'all the sound')
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: questions, 'a question')


def test_what_was_said_last_is_understood_when_no_more_sound_comes(robot, said):
    # As from a microphone that is silent in the literal sense.
    said('Robot, where am I?')
    robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance()[:5]:
        talk.publish(msg)
    robot.wait(lambda: questions, 'a question')


def test_a_failed_transcription_is_told_and_the_node_goes_on(robot, said):
    said('broken')
    node = robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    speak(talk)
    robot.wait(lambda: node.diagnose()[0] == Level.WARN, 'a problem')
    assert 'does not work' in node.diagnose()[1]
    said('Robot, where am I?')
    speak(talk)
    robot.wait(lambda: questions, 'a question')
    assert node.diagnose()[0] == Level.OK


def test_clipped_sound_is_told(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode)
    speak(robot.talk(Int16MultiArray, 'audio'), level=32_767)
    robot.wait(lambda: 'clipped: turn the microphone down' in node.diagnose()[1], 'a warning')
    assert node.diagnose()[0] == Level.WARN


@pytest.mark.parametrize('wav_real_time', [True, False])
def test_a_wav_file_is_heard_to_its_end(robot, said, tmp_path, wav_real_time):
    said('Robot, where am I?')
    path = tmp_path / 'question.wav'
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(np.full(8_000, 8_000, '<i2').tobytes())
    questions = robot.listen(String, '/speech')
    robot.wait(lambda: robot.client.count_subscribers('/speech') == 1, 'the subscription')
    node = robot.start(SpeechNode, source='wav', wav_file=str(path), wav_real_time=wav_real_time)
    robot.wait(lambda: told(node, 'utterances: question') == 1, 'an utterance')
    assert str(path) in told(node, 'source')
    assert len(node._transcriber.heard[0]) == pytest.approx(16_000, abs=20)
    del questions  # its publisher may be discovered later than the file ends


def test_the_real_models_hear_a_real_recording(robot, tmp_path):
    path = Path(__file__).resolve().parents[3] / '../shared/data/speech/jfk.wav'
    if not path.exists():
        pytest.skip('needs the recorded speech of shared/data/speech')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of what makes the model
        model = tiny_whisper.make(tmp_path)
    node = robot.start(
        SpeechNode,
        whisper_model=str(model),
        source='wav',
        wav_file=str(path),
        wav_real_time=False,
        end_silence=0.3,
        language='en',
    )
    # 'And so, my fellow Americans' 'ask not' 'what your country can do for you' 'ask what you can do for ...'
    robot.wait(lambda: told(node, 'utterances') == 4, 'four utterances')
    # What random weights say is no question.
    assert told(node, 'utterances: question') == 0
    assert told(node, 'whisper').startswith(('cpu, int8', 'cuda, float16'))
    assert node.diagnose()[0] == Level.OK


class Library(SimpleNamespace):
    """As much of sounddevice as a microphone that is not there needs."""

    class PortAudioError(Exception):
        pass

    def query_devices(self):
        return []

    def _terminate(self):
        pass

    _initialize = _terminate


def test_a_microphone_that_is_gone_is_told_and_the_node_goes_on(robot, said, monkeypatch):
    library = Library(default=SimpleNamespace(device=(-1, -1)))
    monkeypatch.setitem(sys.modules, 'sounddevice', library)
    node = robot.start(SpeechNode, source='microphone', microphone='usb')
    robot.wait(lambda: node.diagnose()[0] == Level.ERROR, 'an error')
    assert "called 'usb'" in node.diagnose()[1]
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS


SPEAKER = '#!/bin/sh\ncat > "$SPOKEN"\n'


@pytest.fixture
def espeak(tmp_path, monkeypatch):
    program = tmp_path / 'espeak-ng'
    program.write_text(SPEAKER)
    program.chmod(0o755)
    monkeypatch.setenv('PATH', f'{tmp_path}:/usr/bin:/bin')
    monkeypatch.setenv('SPOKEN', str(tmp_path / 'spoken'))
    return tmp_path / 'spoken'


def test_answers_are_spoken_and_announced(robot, said, espeak):
    node = robot.start(SpeechNode, tts='espeak-ng', echo_tail=0.0, follow_up=60.0)
    speaking = robot.listen(Bool, '/speaking')
    answers = robot.talk(String, 'answer_text')
    robot.wait(lambda: node.count_subscribers('/speaking') == 2, 'the listener')
    answers.publish(String(data='It is in the kitchen.'))
    robot.wait(lambda: len(speaking) == 2, 'the end of the answer')
    assert [msg.data for msg in speaking] == [True, False]
    assert espeak.read_text() == 'It is in the kitchen.\n'
    robot.wait(lambda: told(node, 'state') == 'open to a follow-up question', 'the follow-up window')
    assert told(node, 'answers spoken') == 1


def test_an_answer_that_cannot_be_spoken_is_told_and_announced_as_ended(robot, said, espeak):
    node = robot.start(SpeechNode, tts='espeak-ng')
    (espeak.parent / 'espeak-ng').write_text('#!/bin/sh\necho no sound card >&2\nexit 1\n')
    speaking = robot.listen(Bool, '/speaking')
    answers = robot.talk(String, 'answer_text')
    robot.wait(lambda: node.count_subscribers('/speaking') == 2, 'the listener')
    answers.publish(String(data='It is in the kitchen.'))
    robot.wait(lambda: len(speaking) == 2, 'the end of the answer')
    assert not speaking[-1].data
    robot.wait(lambda: 'no sound card' in node.diagnose()[1], 'the reason')


@pytest.mark.parametrize(
    'wrong',
    [
        {'whisper_model': 'missing'},
        {'wake_phrases': '!?'},
        {'channel': 2},
        {'source': 'wav', 'wav_file': '/nowhere.wav'},
        {'tts': 'piper'},
        {'tts': 'espeak-ng', 'tts_timeout': 60.0},
    ],
    ids=['model', 'wake phrase', 'channel', 'file', 'voice', 'timeout'],
)
def test_a_node_that_cannot_listen_or_speak_is_not_configured(robot, said, espeak, wrong):
    node = robot.make(SpeechNode, **wrong)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE


@pytest.mark.parametrize('missing', ['espeak-ng', 'sounddevice'])
def test_a_missing_program_or_library_says_what_to_install(robot, said, monkeypatch, tmp_path, missing):
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setitem(sys.modules, 'sounddevice', None)
    chosen = {'tts': missing} if missing == 'espeak-ng' else {'source': 'microphone'}
    node = robot.make(SpeechNode, **chosen)
    logged = []
    monkeypatch.setattr(node, 'get_logger', lambda: SimpleNamespace(error=logged.append))
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'install' in logged[0]
    assert missing in logged[0]


def test_it_can_be_cleaned_up_and_started_again(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode)
    for transition in ('deactivate', 'cleanup', 'configure', 'activate'):
        assert getattr(node, f'trigger_{transition}')() == TransitionCallbackReturn.SUCCESS
    questions = robot.listen(String, '/speech')
    speak(robot.talk(Int16MultiArray, 'audio'))
    robot.wait(lambda: questions, 'a question')
