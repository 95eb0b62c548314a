import array

import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import Int16MultiArray, String

from remembr_ros.errors import TranscriberUnavailable
from remembr_ros.nodes import speech_node
from remembr_ros.nodes.speech_node import SpeechNode
from remembr_ros.speech import utterances
from remembr_ros.speech.transcriber import Transcript
from remembr_ros.speech.voice_activity import SpeechSegment


class Whisper:
    """Says what it is told to have heard; records the sound."""

    said = ''

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
        return Transcript(self.said, 'en')


def loud(audio, **_):
    found = np.flatnonzero(np.abs(audio) > 0.1)
    return [SpeechSegment(int(found[0]), int(found[-1]) + 1)] if found.size else []


@pytest.fixture
def said(monkeypatch):
    monkeypatch.setattr(speech_node, 'WhisperTranscriber', Whisper)
    monkeypatch.setattr(utterances, 'speech_segments', loud)
    return lambda text: monkeypatch.setattr(Whisper, 'said', text)


def utterance(rate: int = 16_000, channels: int = 1) -> list[Int16MultiArray]:
    """Return a second of sound and a second of silence in ten messages."""
    samples = np.repeat(np.array([8_000] * rate + [0] * rate, np.int16), channels)
    return [Int16MultiArray(data=array.array('h', part.tobytes())) for part in np.split(samples, 10)]


def test_speech_to_the_robot_becomes_a_question(robot, said):
    said('Hey robot, where is the printer?')
    robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance():
        talk.publish(msg)
    robot.wait(lambda: questions, 'a question')
    assert questions[0].data == 'where is the printer?'


def test_other_speech_is_no_question(robot, said):
    said('Where is the printer?')
    node = robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance():
        talk.publish(msg)
    robot.wait(lambda: node.diagnose()[2].get('utterances') == 1, 'an utterance')
    said('Robot, where am I?')
    for msg in utterance():
        talk.publish(msg)
    robot.wait(lambda: questions, 'a question')
    assert [msg.data for msg in questions] == ['where am I?']


def test_without_wake_phrases_all_speech_is_questions_at_any_rate(robot, said):
    said('Where is the printer?')
    node = robot.start(SpeechNode, wake_phrases='', sample_rate=48_000, channels=2)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance(48_000, 2):
        talk.publish(msg)
    robot.wait(lambda: questions, 'a question')
    assert len(node._transcriber.heard[0]) == pytest.approx(16_000, abs=400)


def test_what_is_being_said_when_it_is_deactivated_is_still_understood(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance()[:5]:
        talk.publish(msg)
    robot.wait(lambda: node._cutter._buffer.size == 16_000, 'all the sound')
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: questions, 'a question')


def test_a_failed_transcription_is_told_and_the_node_goes_on(robot, said):
    said('broken')
    node = robot.start(SpeechNode)
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance():
        talk.publish(msg)
    robot.wait(lambda: not node.diagnose()[0], 'a problem')
    assert 'does not work' in node.diagnose()[1]
    said('Robot, where am I?')
    for msg in utterance():
        talk.publish(msg)
    robot.wait(lambda: questions, 'a question')
    assert node.diagnose()[0]


@pytest.mark.parametrize('wrong', [{'whisper_model': 'missing'}, {'wake_phrases': '!?'}])
def test_a_node_that_cannot_listen_is_not_configured(robot, said, wrong):
    node = robot.make(SpeechNode, **wrong)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE


def test_it_can_be_cleaned_up_and_started_again(robot, said):
    said('Robot, where am I?')
    node = robot.start(SpeechNode)
    for transition in ('deactivate', 'cleanup', 'configure', 'activate'):
        assert getattr(node, f'trigger_{transition}')() == TransitionCallbackReturn.SUCCESS
    questions = robot.listen(String, '/speech')
    talk = robot.talk(Int16MultiArray, 'audio')
    for msg in utterance():
        talk.publish(msg)
    robot.wait(lambda: questions, 'a question')
