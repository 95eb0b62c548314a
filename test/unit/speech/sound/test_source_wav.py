import threading
import wave

import numpy as np
import pytest

from remembr_ros.errors import BagUnreadable
from remembr_ros.speech.sound.audio import WavFile
from remembr_ros.speech.sound.source import SoundSource, WavSource


@pytest.fixture
def recording(tmp_path):
    """A second of stereo at 8 kHz: a ramp on the left, silence on the right."""
    path = tmp_path / 'a.wav'
    samples = np.column_stack([np.arange(8_000), np.zeros(8_000)]).astype('<i2')
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(8_000)
        file.writeframes(samples.tobytes())
    return path


def play(source, wait_s=10.0):
    """Return the blocks until the end."""
    blocks, ended = [], threading.Event()
    source.start(lambda block: ended.set() if block is None else blocks.append(block))
    assert ended.wait(wait_s)
    source.stop()
    return blocks


def test_all_of_the_file_is_heard_with_all_channels(recording):
    source = WavSource(recording, real_time=False)
    assert isinstance(source, SoundSource)
    source.check()
    assert not source.live
    assert source.name == str(recording)
    blocks = play(source)
    frames = np.concatenate([block.frames for block in blocks])
    assert {block.rate for block in blocks} == {8_000}
    np.testing.assert_allclose(frames[:, 0] * 32_768, np.arange(8_000))
    assert not frames[:, 1].any()
    assert source.problem == ''


def test_it_can_be_played_again(recording):
    source = WavSource(recording, real_time=False)
    assert len(play(source)) == len(play(source)) == 10


def test_in_real_time_each_block_comes_when_its_last_sample_was_spoken(recording):
    source = WavSource(recording)
    assert source.live
    stamps = [block.heard_ns for block in play(source)]
    gaps = np.diff([stamps[0], *stamps]) / 1e9
    # A machine may be late, but never early.
    assert stamps[-1] - stamps[0] >= 0.85e9
    assert gaps.max() < 2.0


def test_stopping_ends_it_at_once_and_without_an_end(recording):
    found = []
    source = WavSource(recording)
    source.start(found.append)
    source.stop()
    assert None not in found
    assert len(found) < 10


def test_a_missing_file_is_named_before_it_is_played(tmp_path):
    with pytest.raises(BagUnreadable, match='nowhere'):
        WavSource(tmp_path / 'nowhere.wav').check()


def test_a_disk_that_fails_on_the_way_is_a_problem_and_the_end(recording, monkeypatch):
    source = WavSource(recording, real_time=False)
    read = WavFile.read
    reads = iter(range(100))

    def fail(file, frames):
        if next(reads) == 2:
            raise OSError(5, 'Input/output error')
        return read(file, frames)

    monkeypatch.setattr(WavFile, 'read', fail)
    assert len(play(source)) == 2
    assert 'a.wav cannot be read on' in source.problem


def test_a_file_that_vanished_is_a_problem_and_the_end(recording):
    source = WavSource(recording, real_time=False)
    source.check()
    recording.unlink()
    assert play(source) == []
    assert 'a.wav' in source.problem
