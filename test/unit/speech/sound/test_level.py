import numpy as np
import pytest

from remembr_ros.speech.sound.audio import Block
from remembr_ros.speech.sound.level import PERIOD_S, SILENT_DB, LevelMeter


def block(value, seconds=1.0, rate=8_000):
    samples = np.full((round(seconds * rate), 2), value, np.float32)
    return Block(samples, rate, 0)


def test_without_sound_nothing_is_wrong():
    meter = LevelMeter()
    meter.add(Block(np.zeros((0, 1), np.float32), 8_000, 0))
    assert (meter.clipped, meter.loudness_db, meter.zero_s, meter.problem()) == (0.0, SILENT_DB, 0.0, '')


def test_loudness_is_relative_to_full_scale():
    meter = LevelMeter()
    meter.add(block(0.1))
    assert meter.loudness_db == pytest.approx(-20.0, abs=0.01)
    assert meter.problem() == ''


@pytest.mark.parametrize('full', [32_767 / 32_768, 127 / 128, -1.0])
def test_sound_at_full_scale_is_clipped(full):
    meter = LevelMeter()
    meter.add(block(0.1))
    meter.add(block(full))
    clips = abs(full) >= 0.999
    assert meter.clipped == pytest.approx(0.5 if clips else 0.0)
    assert ('50.0 % of the sound is clipped: turn the microphone down' in meter.problem()) == clips


def test_a_single_loud_sample_is_no_distortion():
    meter = LevelMeter()
    samples = np.full((8_000, 1), 0.1, np.float32)
    samples[7] = 1.0
    meter.add(Block(samples, 8_000, 0))
    assert meter.clipped > 0.0
    assert meter.problem() == ''


def test_only_the_last_seconds_count():
    meter = LevelMeter()
    for value in (1.0, *[0.1] * round(PERIOD_S)):
        meter.add(block(value))
    assert meter.clipped == 0.0
    assert meter.loudness_db == pytest.approx(-20.0, abs=0.01)


def test_a_microphone_that_is_switched_off_is_told_from_a_quiet_room():
    meter = LevelMeter()
    meter.add(block(1e-4, 5.0))
    assert meter.problem() == ''
    meter.add(block(0.0, PERIOD_S))
    assert 'switched off' in meter.problem()
    meter.add(block(1e-4))
    assert meter.problem() == ''
