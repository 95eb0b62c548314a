import numpy as np
import pytest

from remembr_ros.errors import InvalidRequest, TranscriberUnavailable
from remembr_ros.speech.attention import Attention, AttentionRules, UtteranceKind
from remembr_ros.speech.listener import Listener, joined
from remembr_ros.speech.sound.audio import SAMPLE_RATE, Block
from remembr_ros.speech.transcriber import Transcript
from remembr_ros.speech.utterances import WINDOW, UtteranceCutter
from remembr_ros.timestamps import NS

START_NS = 1_000 * NS


def loud(windows):
    return (np.abs(windows.reshape(-1, WINDOW)).max(axis=1) > 0.02).astype(np.float32)


class Whisper:
    """Says what it is told to have heard, one after the other; records the sound."""

    name = 'told'

    def __init__(self, *said):
        self.said = list(said)
        self.heard = []

    def transcribe(self, audio):
        self.heard.append(audio)
        said = self.said.pop(0) if self.said else 'Robot, where is it?'
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Transcript) else Transcript(said, 'en', 0.9)


class Stream:
    """Feeds a listener in blocks, on a clock of its own."""

    def __init__(self, *said, rate=SAMPLE_RATE, channels=1, block_s=0.1, max_s=20.0, **options):
        self.whisper = Whisper(*said)
        self.attention = Attention(AttentionRules(follow_up_ns=8 * NS, tail_ns=0))
        cutter = UtteranceCutter(detector=loud, max_s=max_s)
        self.listener = Listener(cutter, self.whisper, self.attention, **options)
        self.rate, self.channels, self.block_s = rate, channels, block_s
        self.now_ns = START_NS

    def play(self, *parts):
        """Hear seconds of speech, positive, and of silence, negative; return what is understood."""
        found = []
        for part in parts:
            left = abs(part)
            while left > 1e-6:
                seconds = min(left, self.block_s)
                left -= seconds
                found += self.listener.hear(self.block(seconds, 0.1 if part > 0 else 0.0))
        return found

    def block(self, seconds, level):
        self.now_ns += round(seconds * NS)
        frames = np.full((round(seconds * self.rate), self.channels), level, np.float32)
        return Block(frames, self.rate, self.now_ns)


def questions(understood):
    return [one.heard.question for one in understood]


def test_speech_becomes_a_question_when_it_ends():
    stream = Stream()
    assert stream.play(-1.0, 1.5, -0.5) == []
    (one,) = stream.play(-0.5)
    assert one.heard.question == 'where is it?'
    assert one.transcript.text == 'Robot, where is it?'
    assert stream.listener.verdicts == {UtteranceKind.QUESTION: 1}


@pytest.mark.parametrize(('rate', 'channels'), [(8_000, 1), (44_100, 2), (48_000, 6)])
def test_sound_of_any_rate_and_number_of_channels_is_understood(rate, channels):
    stream = Stream(rate=rate, channels=channels)
    assert questions(stream.play(-0.5, 1.5, -1.2)) == ['where is it?']
    (audio,) = stream.whisper.heard
    assert np.count_nonzero(np.abs(audio) > 0.05) == pytest.approx(1.5 * SAMPLE_RATE, abs=20)


def test_one_channel_can_be_heard_alone():
    stream = Stream(channels=2, channel=2)
    block = stream.block(1.5, 0.0)
    block.frames[:, 1] = 0.3
    found = [*stream.listener.hear(block), *stream.play(-1.2)]
    assert questions(found) == ['where is it?']
    assert stream.whisper.heard[0].max() == pytest.approx(0.3)


def test_a_channel_that_is_not_there_is_refused():
    with pytest.raises(InvalidRequest, match='no channel 3'):
        Stream(channels=2, channel=3).play(1.0)


def test_the_rate_may_change_in_between():
    stream = Stream(rate=48_000)
    assert questions(stream.play(1.5, -1.2)) == ['where is it?']
    stream.rate = 8_000
    assert questions(stream.play(1.5, -1.2)) == ['where is it?']


@pytest.mark.parametrize('block_s', [0.02, 0.1, 1.0])
def test_a_follow_up_question_counts_from_when_it_was_said(block_s):
    stream = Stream('where is it?', 'where is it?', block_s=block_s)
    stream.play(-5.0)
    stream.attention.answer(stream.now_ns - 8 * NS + NS // 2)
    # It begins 0.2 s, with its margin, before the window ends, and is understood seconds later.
    assert questions(stream.play(1.5, -2.0)) == ['where is it?']
    stream.attention.answer(stream.now_ns - 10 * NS)
    assert [one.heard.verdict for one in stream.play(1.5, -2.0)] == [UtteranceKind.OTHER]


def test_what_was_said_before_the_stream_ended_is_understood():
    stream = Stream()
    assert stream.play(-1.0, 1.5) == []
    assert questions(stream.listener.end()) == ['where is it?']
    assert stream.listener.end() == []
    assert questions(stream.play(1.5, -1.2)) == ['where is it?'], 'and it goes on'


def test_what_lies_before_and_after_a_gap_is_not_one_utterance():
    stream = Stream('Robot, where', 'is it?')
    stream.play(1.0)
    stream.now_ns += 5 * NS
    found = stream.play(1.0, -1.2)
    assert [one.heard.verdict for one in found] == [UtteranceKind.QUESTION, UtteranceKind.OTHER]
    assert found[0].heard.question == 'where'


def test_a_file_that_had_to_wait_has_no_gaps():
    stream = Stream(live=False)
    stream.play(1.0)
    stream.now_ns += 5 * NS
    assert questions(stream.play(1.0, -1.2)) == ['where is it?']
    assert len(stream.whisper.heard) == 1


def test_long_speech_to_the_robot_is_put_together():
    stream = Stream('Robot, where is', 'the big', 'red mug?', max_s=4.0)
    found = [*stream.play(-1.0, 9.0, -1.2)]
    assert questions(found) == ['where is the big red mug?']
    assert len(stream.whisper.heard) == 3
    assert stream.listener.verdicts == {UtteranceKind.QUESTION: 1}


def test_long_speech_to_somebody_else_is_transcribed_once():
    stream = Stream('and so my fellow Americans', max_s=4.0)
    found = stream.play(-1.0, 60.0, -1.2)
    assert [one.heard.verdict for one in found] == [UtteranceKind.OTHER]
    assert len(stream.whisper.heard) == 1
    assert questions(stream.play(1.5, -1.2)) == ['where is it?'], 'and then it listens again'


def test_endless_speech_to_the_robot_is_bounded():
    stream = Stream('Robot, a', 'b', 'c', 'd', max_s=4.0)
    assert questions(stream.play(60.0, -1.2)) == ['a b c']
    assert len(stream.whisper.heard) == 3


def test_what_cannot_be_transcribed_is_counted_and_the_next_is_heard():
    stream = Stream(TranscriberUnavailable('out of memory'))
    found = stream.play(1.5, -1.2)
    assert [one.heard.verdict for one in found] == [UtteranceKind.FAILED]
    assert stream.listener.problem == 'out of memory'
    assert questions(stream.play(1.5, -1.2)) == ['where is it?']
    assert stream.listener.problem == ''


def test_the_failed_part_of_a_long_utterance_takes_the_rest_with_it():
    stream = Stream('Robot, where is', TranscriberUnavailable('out of memory'), max_s=4.0)
    found = stream.play(-1.0, 15.0, -1.2)
    assert [one.heard.verdict for one in found] == [UtteranceKind.FAILED]
    assert len(stream.whisper.heard) == 2
    assert questions(stream.play(1.5, -1.2)) == ['where is it?']


def test_an_endless_stream_is_not_kept():
    stream = Stream(block_s=0.5)
    stream.play(-600.0)
    assert len(stream.listener._marks) < 10


def test_parts_are_as_sure_as_they_are_long():
    whole = joined([(3, Transcript('a', 'en', 0.9)), (1, Transcript('', 'en', 0.1))])
    assert (whole.text, whole.language, whole.confidence) == ('a', 'en', pytest.approx(0.7))
