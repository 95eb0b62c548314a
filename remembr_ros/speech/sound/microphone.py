"""Sound from a microphone, by sounddevice (PortAudio)."""

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from remembr_ros.errors import SoundUnavailable
from remembr_ros.speech.sound.audio import Block
from remembr_ros.speech.sound.source import Deliver

INSTALL = 'run: pip install sounddevice; sudo apt install libportaudio2'

BLOCK_S = 0.05
STALLED_S = 2.0  # silent for so long it is gone: when it is unplugged, its stream may not end
RETRY_S = 2.0

CLOSE_S = 5.0
MAX_CHANNELS = 32  # of real devices; ALSA's virtual ones claim more


class Microphone:
    """Listens to a microphone, and looks for it again whenever it is gone.

    :param device: part of its name, or its number in `python -m sounddevice`; empty: the default one
    :param channel: that will be heard, from 1; 0: two at most are needed
    :param stalled_s: without sound for so long it is taken for lost [s]
    :param retry_s: from one attempt to open it to the next [s]
    """

    live = True

    def __init__(
        self, device: str = '', *, channel: int = 0, stalled_s: float = STALLED_S, retry_s: float = RETRY_S
    ) -> None:
        self._device = device.strip()
        self._channel = channel
        self._stalled_s = stalled_s
        self._retry_s = retry_s
        self._stopped = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self.name = self._device or 'the default microphone'
        self.problem = ''
        self._heard_at = 0.0

    def check(self) -> None:
        """Raise SoundUnavailable if sounddevice or PortAudio is not installed."""
        _sounddevice()

    def start(self, deliver: Deliver) -> None:
        # Of this start alone: a thread that a device held for long finds its own end.
        stopped = self._stopped = threading.Event()
        self.problem = ''
        self._thread = threading.Thread(
            target=self._supervise, args=(_sounddevice(), deliver, stopped), name='microphone', daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._wake.set()
        if self._thread is not None:
            # Closing a device that is gone may take PortAudio for ever.
            self._thread.join(CLOSE_S)
            self._thread = None

    def _supervise(self, library: Any, deliver: Deliver, stopped: threading.Event) -> None:
        while not stopped.is_set():
            try:
                self._listen(library, deliver, stopped)
            except (SoundUnavailable, library.PortAudioError, OSError, ValueError) as error:
                self.problem = f'microphone {self.name}: {error}; trying again'
            if stopped.wait(self._retry_s):
                return
            # PortAudio knows only the devices that were there when it started.
            for step in (library._terminate, library._initialize):
                with contextlib.suppress(library.PortAudioError, OSError):
                    step()

    def _listen(self, library: Any, deliver: Deliver, stopped: threading.Event) -> None:
        """Deliver sound until told to stop.

        :raises SoundUnavailable: the microphone is not there, or gone
        """
        devices = library.query_devices()
        number = find_device(devices, self._device, library.default.device[0])
        self.name = f'{number}: {devices[number]["name"]}'
        rate = round(float(devices[number]['default_samplerate']))
        self._wake.clear()
        if stopped.is_set():
            return
        self._heard_at = time.monotonic()

        def hear(frames: Any, count: int, when: Any, status: Any) -> None:
            self._heard_at = time.monotonic()
            self.problem = ''
            if not stopped.is_set():
                deliver(Block(frames.copy(), rate, time.monotonic_ns()))

        with self._opened(library, devices[number], number, rate, hear):
            while not stopped.is_set():
                ended = self._wake.wait(self._stalled_s / 2.0) and not stopped.is_set()
                if ended or time.monotonic() - self._heard_at > self._stalled_s:
                    raise SoundUnavailable('it is gone, or delivers no sound; is it plugged in?')

    def _opened(
        self, library: Any, device: Mapping[str, Any], number: int, rate: int, hear: Any
    ) -> contextlib.AbstractContextManager[Any]:
        most = min(int(device['max_input_channels']), MAX_CHANNELS)
        if self._channel > most:
            raise SoundUnavailable(f'it has {most} channels, no channel {self._channel}; set channel')
        # Some devices can be opened with all of their channels only.
        wanted = self._channel or min(most, 2)
        for channels in dict.fromkeys((wanted, most)):
            try:
                stream: contextlib.AbstractContextManager[Any] = library.InputStream(
                    device=number,
                    samplerate=rate,
                    channels=channels,
                    dtype='float32',
                    blocksize=round(BLOCK_S * rate),
                    callback=hear,
                    finished_callback=self._wake.set,
                )
            except library.PortAudioError:
                if channels == most:
                    raise
            else:
                return stream
        raise AssertionError('one of the two ways was the last')


def find_device(devices: Sequence[Mapping[str, Any]], wanted: str, default: int) -> int:
    """Return the number of a device that records.

    :param devices: as sounddevice lists them
    :param wanted: its number, its name, or a part of it, whatever the case; empty: the default one
    :param default: number of the default one; negative: there is none
    :raises SoundUnavailable: there is none, or several with that name
    """
    inputs = {i: str(device['name']) for i, device in enumerate(devices) if device['max_input_channels'] > 0}
    listed = '; '.join(f'{i}: {name}' for i, name in inputs.items()) or 'none'
    if not wanted:
        if default in inputs:
            return default
        raise SoundUnavailable(f'there is no default microphone; these record: {listed}')
    if wanted.isdecimal():
        if int(wanted) in inputs:
            return int(wanted)
        raise SoundUnavailable(f'no device with number {wanted} records; these do: {listed}')
    same = [i for i, name in inputs.items() if name.casefold() == wanted.casefold()]
    found = same or [i for i, name in inputs.items() if wanted.casefold() in name.casefold()]
    if len(found) == 1:
        return found[0]
    problem = 'several devices are' if found else 'no device that records is'
    raise SoundUnavailable(f'{problem} called {wanted!r}; these record: {listed}')


def _sounddevice() -> Any:
    try:
        import sounddevice  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError as error:
        raise SoundUnavailable(f'sounddevice is not installed; {INSTALL}') from error
    except OSError as error:  # PortAudio, a library of the system, is missing
        raise SoundUnavailable(f'sounddevice cannot be used ({error}); {INSTALL}') from error
    return sounddevice
