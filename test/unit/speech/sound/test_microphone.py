"""The microphone over a stand-in for sounddevice: no test machine has a microphone to unplug."""

import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from remembr_ros.errors import SoundUnavailable
from remembr_ros.speech.sound.microphone import Microphone, find_device
from remembr_ros.speech.sound.source import SoundSource

WAIT_S = 10.0


def device(name, inputs=1, rate=48_000.0):
    return {'name': name, 'max_input_channels': inputs, 'default_samplerate': rate}


class Library:
    """Behaves as sounddevice does, as far as it is used; records what it is asked for."""

    class PortAudioError(Exception):
        pass

    def __init__(self):
        self.devices = [device('HDMI', 0), device('USB Mic'), device('Array', 6, 16_000.0)]
        self.default = SimpleNamespace(device=(1, 0))
        self.streams = []
        self.restarts = 0
        self.needed_channels = None
        self.changed = threading.Condition()

    def query_devices(self):
        return list(self.devices)

    def _terminate(self):
        pass

    def _initialize(self):
        self.restarts += 1

    def InputStream(self, **options):  # noqa: N802  its name in sounddevice
        if self.needed_channels not in (None, options['channels']):
            raise self.PortAudioError('Invalid number of channels')
        return Stream(self, options)

    def stream(self, count):
        """Wait until the stream of this number, from 1, is opened."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.streams) >= count, WAIT_S)
            return self.streams[count - 1]


class Stream:
    def __init__(self, library, options):
        self.library = library
        self.options = options
        self.open = False

    def __enter__(self):
        with self.library.changed:
            self.open = True
            self.library.streams.append(self)
            self.library.changed.notify_all()

    def __exit__(self, *_):
        self.open = False

    def hear(self, level=0.1):
        shape = (self.options['blocksize'], self.options['channels'])
        self.options['callback'](np.full(shape, level, np.float32), shape[0], None, None)


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setitem(sys.modules, 'sounddevice', made)
    return made


@pytest.fixture
def listen(library):
    started = []

    def start(*args, **options):
        source = Microphone(*args, **{'stalled_s': 30.0, 'retry_s': 0.01, **options})
        started.append(source)
        blocks = []
        source.start(blocks.append)
        return source, blocks

    yield start
    for source in started:
        source.stop()


def wait(condition):
    deadline = time.monotonic() + WAIT_S
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.005)


def test_sound_comes_at_the_rate_of_the_device(library, listen):
    source, blocks = listen('usb')
    assert isinstance(source, SoundSource)
    assert source.live
    stream = library.stream(1)
    before = time.monotonic_ns()
    stream.hear(0.25)
    assert source.name == '1: USB Mic'
    assert blocks[0].rate == 48_000
    assert blocks[0].frames.shape == (2_400, 1)
    assert np.all(blocks[0].frames == 0.25)
    assert before <= blocks[0].heard_ns <= time.monotonic_ns()
    assert stream.options['device'] == 1
    source.stop()
    assert not stream.open
    stream.hear()
    assert len(blocks) == 1, 'nothing is delivered after the end'


def test_what_is_delivered_is_its_own(library, listen):
    # PortAudio uses its memory again.
    _, blocks = listen()
    frames = np.full((10, 1), 0.5, np.float32)
    library.stream(1).options['callback'](frames, 10, None, SimpleNamespace(input_overflow=False))
    frames[:] = 0.0
    assert np.all(blocks[0].frames == 0.5)


@pytest.mark.parametrize(('channel', 'opened'), [(0, 2), (3, 3)])
def test_no_more_channels_are_opened_than_are_needed(library, listen, channel, opened):
    listen('Array', channel=channel)
    assert library.stream(1).options['channels'] == opened


def test_a_device_that_wants_all_of_its_channels_opened_gets_them(library, listen):
    library.needed_channels = 6
    listen('Array')
    assert library.stream(1).options['channels'] == 6


def test_a_channel_that_is_not_there_is_told(library, listen):
    source, _ = listen('usb', channel=2)
    wait(lambda: 'no channel 2' in source.problem)


def test_a_microphone_whose_stream_ends_is_opened_again(library, listen):
    source, blocks = listen('usb')
    stream = library.stream(1)
    stream.hear()
    library.devices = [device('HDMI', 0)]
    stream.options['finished_callback']()
    wait(lambda: 'no device that records is called' in source.problem)
    library.devices = [device('HDMI', 0), device('Other'), device('USB Mic', 1, 44_100.0)]
    again = library.stream(2)
    assert not stream.open
    assert library.restarts, 'or PortAudio would not know the new device'
    assert source.problem
    again.hear()
    assert source.problem == ''
    assert source.name == '2: USB Mic'
    assert [block.rate for block in blocks] == [48_000, 44_100]


def test_a_microphone_that_falls_silent_is_opened_again(library, listen):
    source, _ = listen(stalled_s=0.05)
    library.stream(2)
    assert 'delivers no sound' in source.problem


def test_a_microphone_that_is_not_there_yet_is_waited_for(library, listen):
    library.devices = []
    library.default.device = (-1, -1)
    source, _ = listen()
    wait(lambda: 'there is no default microphone' in source.problem)
    library.devices = [device('USB Mic')]
    library.default.device = (0, -1)
    library.stream(1).hear()
    assert source.problem == ''


def test_a_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'sounddevice', None)
    with pytest.raises(SoundUnavailable, match=r'pip install sounddevice; sudo apt install libportaudio2'):
        Microphone().check()


def test_a_missing_portaudio_says_what_to_install(monkeypatch, tmp_path):
    # As the real one does when it does not find the library of the system.
    (tmp_path / 'sounddevice.py').write_text("raise OSError('PortAudio library not found')\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, 'sounddevice', raising=False)
    with pytest.raises(SoundUnavailable, match=r'PortAudio library not found.*apt install libportaudio2'):
        Microphone().check()


DEVICES = [device('HDMI', 0), device('USB Mic: Audio (hw:1,0)'), device('USB Mic'), device('Array', 6)]


@pytest.mark.parametrize(
    ('wanted', 'number'), [('', 3), ('2', 2), ('usb mic', 2), ('audio (hw', 1), ('ARRAY', 3)]
)
def test_a_device_is_found_by_number_name_or_part_of_it(wanted, number):
    assert find_device(DEVICES, wanted, 3) == number


@pytest.mark.parametrize(
    ('wanted', 'why'),
    [
        ('0', 'no device with number 0 records; these do: 1: USB Mic'),
        ('17', 'no device with number 17'),
        ('hdmi', "no device that records is called 'hdmi'"),
        ('mic', "several devices are called 'mic'"),
    ],
)
def test_a_device_that_is_not_there_is_refused_with_those_that_are(wanted, why):
    with pytest.raises(SoundUnavailable) as caught:
        find_device(DEVICES, wanted, 3)
    assert why in str(caught.value)
    assert '3: Array' in str(caught.value)
