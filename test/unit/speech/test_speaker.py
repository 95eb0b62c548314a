"""Speaking with real programs, small ones that the tests write."""

import os
import stat
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import SoundUnavailable
from remembr_ros.speech.speaker import make_speaker, speakable

ESPEAK = """#!/bin/sh
for argument in "$@"; do printf '%s\\n' "$argument" >> "$SPOKEN.arguments"; done
cat >> "$SPOKEN"
"""

PIPER = """#!/bin/sh
[ "$1" = --model ] && [ -f "$2" ] && [ "$3" = --output_file ] || exit 3
cat > "$4"
"""

APLAY = """#!/bin/sh
[ "$1" = -q ] || exit 3
cat "$2" > "$SPOKEN"
printf '%s' "$2" > "$SPOKEN.file"
"""

HANGING = """#!/bin/sh
echo $$ > "$SPOKEN"
sleep 600 &
wait
"""


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Writes programs into a folder in front of the others; what they say is in the file spoken."""
    folder = tmp_path / 'bin'
    folder.mkdir()
    monkeypatch.setenv('PATH', f'{folder}{os.pathsep}/usr/bin{os.pathsep}/bin')
    monkeypatch.setenv('SPOKEN', str(tmp_path / 'spoken'))

    def write(**sources):
        for name, source in sources.items():
            path = folder / name.replace('_', '-')
            path.write_text(source)
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return tmp_path / 'spoken'

    return write


def test_espeak_says_the_text_from_its_standard_input(programs):
    spoken = programs(espeak_ng=ESPEAK)
    make_speaker('espeak-ng', 'en-us').say('The lift is\n6 m away.')
    assert spoken.read_text() == 'The lift is 6 m away.\n'
    assert (spoken.parent / 'spoken.arguments').read_text().split() == ['-v', 'en-us', '--stdin']


@pytest.mark.parametrize('text', ['--help', '-f /etc/passwd', '$(touch spoken.bad)', '`id`; rm -rf "x"', "'"])
def test_no_text_is_an_option_or_a_command(programs, text):
    spoken = programs(espeak_ng=ESPEAK)
    make_speaker('espeak-ng').say(text)
    assert spoken.read_text() == f'{text}\n'
    assert (spoken.parent / 'spoken.arguments').read_text().split() == ['--stdin']
    assert sorted(path.name for path in spoken.parent.iterdir()) == ['bin', 'spoken', 'spoken.arguments']


def test_piper_makes_a_file_that_is_played_and_removed(programs, tmp_path):
    spoken = programs(piper=PIPER, aplay=APLAY)
    voice = tmp_path / 'voice.onnx'
    voice.touch()
    make_speaker('piper', str(voice)).say('Here.')
    assert spoken.read_text() == 'Here.\n'
    assert not os.path.exists((tmp_path / 'spoken.file').read_text())


def test_nothing_is_said_of_nothing(programs):
    spoken = programs(espeak_ng=ESPEAK)
    make_speaker('espeak-ng').say(' \n\0')
    assert not spoken.exists()


def test_none_speaks_not():
    assert make_speaker('none') is None


def test_a_missing_program_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv('PATH', str(tmp_path))
    with pytest.raises(SoundUnavailable, match='espeak-ng is not installed; sudo apt install espeak-ng'):
        make_speaker('espeak-ng')
    voice = tmp_path / 'voice.onnx'
    voice.touch()
    with pytest.raises(SoundUnavailable, match='piper is not installed; pip install piper-tts'):
        make_speaker('piper', str(voice))
    with pytest.raises(SoundUnavailable, match='espeak-ng, piper'):
        make_speaker('festival')


def test_a_missing_player_and_voice_are_told(programs, tmp_path, monkeypatch):
    programs(piper=PIPER)
    monkeypatch.setenv('PATH', str(tmp_path / 'bin'))
    voice = tmp_path / 'voice.onnx'
    with pytest.raises(SoundUnavailable, match=r'piper has no voice .*voice\.onnx'):
        make_speaker('piper', str(voice))
    voice.touch()
    with pytest.raises(SoundUnavailable, match='aplay is not installed; sudo apt install alsa-utils'):
        make_speaker('piper', str(voice))


def test_a_program_that_fails_gives_its_reason(programs):
    programs(espeak_ng='#!/bin/sh\necho no sound card >&2\nexit 1\n')
    with pytest.raises(SoundUnavailable, match='espeak-ng failed: no sound card'):
        make_speaker('espeak-ng').say('Hello')


def test_a_program_that_does_not_read_what_it_is_given_is_no_failure(programs):
    programs(espeak_ng='#!/bin/sh\nexit 0\n')
    make_speaker('espeak-ng', max_characters=10**6).say('word ' * 10**5)


def test_a_program_that_cannot_be_run_is_told(programs):
    programs(espeak_ng='#!/no/such/interpreter\n')
    with pytest.raises(SoundUnavailable, match='espeak-ng cannot be run'):
        make_speaker('espeak-ng').say('Hello')


def gone(pid):
    """Tell whether a group of processes has ended."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait(condition):
    deadline, pause = time.monotonic() + 10.0, threading.Event()
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.01)


def test_a_program_that_hangs_is_ended_with_what_it_started(programs):
    spoken = programs(espeak_ng=HANGING)
    with pytest.raises(SoundUnavailable, match=r'espeak-ng was not ready after 0\.5 s'):
        make_speaker('espeak-ng', timeout_s=0.5).say('Hello')
    wait(lambda: gone(int(spoken.read_text())))


def test_it_can_be_stopped_from_another_thread(programs):
    spoken = programs(espeak_ng=HANGING)
    speaker = make_speaker('espeak-ng')
    thread = threading.Thread(target=speaker.say, args=('Hello',))
    thread.start()
    wait(lambda: spoken.exists() and spoken.read_text())
    speaker.stop()
    thread.join(10.0)
    assert not thread.is_alive()
    wait(lambda: gone(int(spoken.read_text())))
    spoken.unlink()
    speaker.say('Hello again')
    assert not spoken.exists(), 'stopped for good'


@given(st.text(), st.integers(1, 50))
def test_what_is_spoken_is_one_line_of_bounded_length(text, length):
    said = speakable(text, length)
    assert len(said) <= length
    assert said == said.strip()
    assert said.isprintable()


def test_a_long_text_ends_with_a_sentence_or_a_word():
    text = 'The lift is near. The cafeteria is far. And so on'
    assert speakable(text, 100) == text
    assert speakable(text, 42) == 'The lift is near. The cafeteria is far.'
    assert speakable(text, 30) == 'The lift is near.'
    assert speakable('a long list of words', 12) == 'a long list'
    assert speakable('x' * 20, 12) == 'x' * 12
