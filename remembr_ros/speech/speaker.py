"""Text to speech, by installed programs."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from remembr_ros.errors import SoundUnavailable

MAX_CHARACTERS = 500
TIMEOUT_S = 45.0  # for one text; less than the time after which a robot that speaks is taken for silent
TTS = ('none', 'espeak-ng', 'piper')

PACKAGES = {'espeak-ng': 'sudo apt install espeak-ng', 'aplay': 'sudo apt install alsa-utils'}
PACKAGES['piper'] = (
    'pip install piper-tts, and get a voice (python3 -m piper.download_voices en_US-lessac-medium)'
)


class ProgramSpeaker:
    """Speaks by running programs one after the other: the text goes to the first one's standard input.

    Programs are found once, and run without a shell.

    :param commands: of each program, its name first; OUTPUT stands for a file from one to the next
    :param timeout_s: for all of them together [s]
    :raises SoundUnavailable: a program is not installed
    """

    OUTPUT = '{output}'

    def __init__(
        self,
        commands: Sequence[Sequence[str]],
        *,
        max_characters: int = MAX_CHARACTERS,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._commands = [[_found(command[0]), *command[1:]] for command in commands]
        self._max_characters = max_characters
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def say(self, text: str) -> None:
        """Say it and return when it is said.

        :raises SoundUnavailable: that failed, or took too long
        """
        spoken = speakable(text, self._max_characters)
        if not spoken:
            return
        deadline = time.monotonic() + self._timeout_s
        with tempfile.TemporaryDirectory(prefix='remembr_speech_') as folder:
            output = str(Path(folder) / 'speech.wav')
            for i, command in enumerate(self._commands):
                given = spoken.encode() + b'\n' if i == 0 else b''
                self._run([output if part == self.OUTPUT else part for part in command], given, deadline)

    def stop(self) -> None:
        """End what is being said, and say nothing more; from any thread."""
        with self._lock:
            self._stopped = True
            if self._running is not None:
                _kill(self._running)

    def _run(self, command: list[str], given: bytes, deadline: float) -> None:
        name = Path(command[0]).name
        with tempfile.TemporaryFile() as log:
            with self._lock:
                if self._stopped:
                    return
                try:
                    # A session of its own, so that what it starts ends with it.
                    process = subprocess.Popen(
                        command,
                        stdin=subprocess.PIPE,
                        stdout=subprocess.DEVNULL,
                        stderr=log,
                        start_new_session=True,
                    )
                except OSError as error:
                    raise SoundUnavailable(f'{name} cannot be run: {error}') from error
                self._running = process
            try:
                process.communicate(given, timeout=max(deadline - time.monotonic(), 0.0))
            except subprocess.TimeoutExpired as error:
                raise SoundUnavailable(f'{name} was not ready after {self._timeout_s:g} s') from error
            finally:
                with self._lock:
                    _kill(process)
                    self._running = None
            if process.returncode and not self._stopped:
                log.seek(0)
                reason = log.read(1000).decode(errors='replace').strip() or f'exit code {process.returncode}'
                raise SoundUnavailable(f'{name} failed: {reason}')


def make_speaker(
    tts: str, voice: str = '', *, max_characters: int = MAX_CHARACTERS, timeout_s: float = TIMEOUT_S
) -> ProgramSpeaker | None:
    """Return what speaks; None for 'none'.

    :param tts: one of TTS
    :param voice: espeak-ng: a voice such as 'en-us'; piper: the file of a voice, *.onnx
    :raises SoundUnavailable: a program, or piper's voice, is missing
    """
    if tts == 'none':
        return None
    if tts == 'espeak-ng':
        commands = [['espeak-ng', *(['-v', voice] if voice else []), '--stdin']]
    elif tts == 'piper':
        if not Path(voice).is_file():
            raise SoundUnavailable(
                f'piper has no voice {voice!r}: name its file, *.onnx; {PACKAGES["piper"]}'
            )
        output = ProgramSpeaker.OUTPUT
        commands = [['piper', '--model', voice, '--output_file', output], ['aplay', '-q', output]]
    else:
        raise SoundUnavailable(f'nothing speaks by the name {tts!r}; there are {", ".join(TTS)}')
    return ProgramSpeaker(commands, max_characters=max_characters, timeout_s=timeout_s)


def speakable(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Return text in one line, without what cannot be spoken, cut at the end of a sentence or word."""
    line = ' '.join(''.join(c if c.isprintable() else ' ' for c in text).split())
    if len(line) <= max_characters:
        return line
    head = line[: max_characters + 1]
    ends = [head.rfind(mark) + 1 for mark in ('. ', '? ', '! ')]
    if max(ends) > max_characters // 2:
        return head[: max(ends)]
    return head.rpartition(' ')[0] or head[:max_characters]


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        how = PACKAGES.get(program, 'install it')
        raise SoundUnavailable(f'{program} is not installed; {how}')
    return path


def _kill(process: 'subprocess.Popen[bytes]') -> None:
    """End a program and what it started; wait for its end."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
