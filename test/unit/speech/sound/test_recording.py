import io
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.speech.sound.audio import SAMPLE_RATE
from remembr_ros.speech.sound.recording import LONGEST_S, decode_recording

av = pytest.importorskip('av', reason='pip install "remembr_ros[speech]" brings it')


def wav(seconds: float, rate: int = 44_100, channels: int = 2) -> bytes:
    """A tone of 440 Hz, as a wav file."""
    times = np.arange(round(seconds * rate)) / rate
    tone = np.repeat((np.sin(times * 880.0 * np.pi) * 16_000).astype('<i2')[:, None], channels, axis=1)
    file = io.BytesIO()
    with wave.open(file, 'wb') as writer:
        writer.setparams((channels, 2, rate, 0, 'NONE', ''))
        writer.writeframes(tone.tobytes())
    return file.getvalue()


def test_a_recording_becomes_what_speech_models_take() -> None:
    audio = decode_recording(wav(1.0))
    assert audio.dtype == np.float32
    assert len(audio) == pytest.approx(SAMPLE_RATE, abs=SAMPLE_RATE // 50)
    spectrum = np.abs(np.fft.rfft(audio[: SAMPLE_RATE // 2]))
    assert int(spectrum.argmax()) * 2 == pytest.approx(440, abs=4)


def test_what_browsers_record_is_understood() -> None:
    file = io.BytesIO()
    with av.open(file, 'w', format='webm') as made:
        stream = made.add_stream('libopus', rate=48_000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 960), np.int16), format='s16', layout='mono')
        frame.rate = 48_000
        for packet in (*stream.encode(frame), *stream.encode(None)):
            made.mux(packet)
    assert np.abs(decode_recording(file.getvalue())).max(initial=0.0) < 0.01


def test_hours_in_a_small_file_are_refused() -> None:
    with pytest.raises(InvalidRequest, match='longer than 60 s'):
        decode_recording(wav(LONGEST_S + 5.0, rate=8000, channels=1))


@given(st.binary(max_size=200))
def test_what_is_no_sound_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest, match='no sound'):
        decode_recording(data)


@pytest.mark.parametrize(
    'data',
    [
        b'ffconcat version 1.0\nfile say.wav\n',
        b'v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=audio 45678 RTP/AVP 0\r\n',
        b'#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nsay.wav\n#EXT-X-ENDLIST\n',
    ],
)
def test_a_list_of_other_files_or_addresses_is_not_followed(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'say.wav').write_bytes(wav(1.0))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidRequest, match='no sound'):
        decode_recording(data)


def test_half_a_recording_is_half_of_it() -> None:
    assert 0 < len(decode_recording(wav(1.0)[:50_000])) < SAMPLE_RATE
