"""Real speech, in files of five minutes with silences and noise: what is found of it, and at what cost."""

import time
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.speech.sound.audio import SAMPLE_RATE, WavFile, mixed
from remembr_ros.speech.utterances import UtteranceCutter
from test.sound import load_wav, resample, speech_segments

pytest.importorskip('faster_whisper', reason='needs faster-whisper: pip install "remembr_ros[speech]"')

SPEECH = Path(__file__).resolve().parents[3] / '../shared/data/speech'
RECORDINGS = sorted(SPEECH.glob('*.wav'))
if not RECORDINGS:
    pytest.skip('needs the recorded speech of shared/data/speech', allow_module_level=True)

LENGTH_S = 300.0
END_SILENCE_S = 0.8
CUT_S = 0.3
"""So much of an utterance may be missing at either end."""

LOUDNESS = 0.05
"""RMS of each recording, -26 dB."""

NOISES = ('white', 'pink', 'brown', 'motor', 'keys')
SNR_DB = (40.0, 20.0, 10.0)
SECTION_S = LENGTH_S / len(NOISES) / len(SNR_DB)


@dataclass(frozen=True)
class Said:
    """A recording in the stream, and when there is really speech in it [s]."""

    name: str
    start_s: float
    end_s: float
    spoken: list[tuple[float, float]]


def loud_stretches(audio, least_s=0.1):
    """Return when sound of at least 0.1 s is less than 20 dB below the loudest; by energy alone."""
    frames = audio[: audio.size - audio.size % 160].reshape(-1, 160)
    power = np.convolve(np.square(frames).mean(axis=1), np.ones(5) / 5.0, mode='same')
    loud = power > 0.01 * np.percentile(power, 95)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], loud.astype(int), [0]]))).reshape(-1, 2) / 100.0
    return [(a, b) for a, b in edges.tolist() if b - a >= least_s]


def noise(kind, size, random):
    """Return noise of RMS 1."""
    if kind == 'keys':
        made = np.zeros(size)
        tap = np.exp(-np.arange(400) / 60.0) * random.normal(size=400)
        for at in random.integers(0, size - 400, size // 8_000):
            made[at : at + 400] += tap * random.uniform(0.5, 1.0)
    elif kind == 'motor':
        seconds = np.arange(size) / SAMPLE_RATE
        made = sum(np.sin(2 * np.pi * 95.0 * k * seconds + k) / k for k in range(1, 12))
        made *= 1.0 + 0.3 * np.sin(2 * np.pi * 3.0 * seconds)
    else:
        slope = {'white': 0.0, 'pink': 0.5, 'brown': 1.0}[kind]
        spectrum = np.fft.rfft(random.normal(size=size))
        frequencies = np.maximum(np.fft.rfftfreq(size, 1.0 / SAMPLE_RATE), 20.0)
        made = np.fft.irfft(spectrum / frequencies**slope, size)
    return made / np.sqrt(np.square(made).mean())


def five_minutes(seed):
    """Return a stream of all recordings again and again, with silences and noise, and what is said in it."""
    random = np.random.default_rng(seed)
    stream = np.zeros(round(LENGTH_S * SAMPLE_RATE))
    recordings = [(path.stem, load_wav(path)) for path in RECORDINGS]
    said, at = [], 0
    while True:
        for i in random.permutation(len(recordings)):
            name, audio = recordings[i]
            at += round(random.uniform(1.5, 6.0) * SAMPLE_RATE)
            if at + audio.size + 2 * SAMPLE_RATE > stream.size:
                return with_noise(stream, random), said
            stream[at : at + audio.size] += audio * LOUDNESS / np.sqrt(np.square(audio).mean())
            begin = at / SAMPLE_RATE
            spoken = [(begin + a, begin + b) for a, b in loud_stretches(audio)]
            at += audio.size
            said.append(Said(name, begin, at / SAMPLE_RATE, spoken))


def with_noise(stream, random):
    """Add each kind of noise at each level, a section for each; they fade in and out within a second."""
    size, fade = round(SECTION_S * SAMPLE_RATE), SAMPLE_RATE
    shape = np.minimum(1.0, np.minimum(np.arange(size), np.arange(size)[::-1]) / fade)
    sections = [(kind, snr) for snr in SNR_DB for kind in NOISES]
    for i, (kind, snr) in enumerate(sections):
        level = LOUDNESS * 10.0 ** (-snr / 20.0)
        stream[i * size : (i + 1) * size] += shape * level * noise(kind, size, random)
    return stream


def missing(said, found):
    """Return which stretches of speech lack more than CUT_S at an end, or all of it, and how much [s]."""
    wrong = []
    for one in said:
        for a, b in one.spoken:
            inside = [(max(start, a), min(end, b)) for start, end in found if start < b and end > a]
            lost = (inside[0][0] - a, b - inside[-1][1]) if inside else (b - a, 0.0)
            if max(lost) > CUT_S:
                wrong.append((one.name, round(a - one.start_s, 2), round(max(lost), 2)))
    return wrong


def share(said, found):
    """Return how much of the speech was found."""
    spoken = [stretch for one in said for stretch in one.spoken]
    both = sum(max(min(b, end) - max(a, start), 0.0) for a, b in spoken for start, end in found)
    return both / sum(b - a for a, b in spoken)


def invented(said, found):
    """Return what was found where nobody spoke."""
    return [
        (round(a, 2), round(b, 2))
        for a, b in found
        if not any(a < one.end_s and b > one.start_s for one in said)
    ]


def streamed(audio, size):
    cutter = UtteranceCutter(end_silence_s=END_SILENCE_S)
    found = [u for at in range(0, audio.size, size) for u in cutter.add(audio[at : at + size])]
    return [*found, *cutter.flush()]


@pytest.fixture(scope='module', params=[1, 2, 3])
def heard(request, tmp_path_factory):
    """A file of five minutes as it is read, and what is said in it."""
    stream, said = five_minutes(request.param)
    path = tmp_path_factory.mktemp('speech') / 'five_minutes.wav'
    with wave.open(str(path), 'wb') as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes((np.clip(stream, -1.0, 1.0) * 32_767).astype('<i2').tobytes())
    audio = load_wav(path)
    assert audio.size == LENGTH_S * SAMPLE_RATE
    assert len(said) > 35
    return audio, said


def test_of_a_recording_every_sentence_is_found_and_the_pauses_are_not():
    audio = load_wav(SPEECH / 'jfk.wav')
    found = [(s.start / SAMPLE_RATE, s.end / SAMPLE_RATE) for s in speech_segments(audio)]
    said = [Said('jfk', 0.0, 11.0, loud_stretches(audio))]
    assert missing(said, found) == []
    assert share(said, found) > 0.95
    assert 6.0 < sum(b - a for a, b in found) < 10.5


def test_in_five_minutes_all_speech_is_found_and_none_is_invented(heard):
    audio, said = heard
    found = [
        (s.start / SAMPLE_RATE, s.end / SAMPLE_RATE)
        for s in speech_segments(audio, min_silence_s=END_SILENCE_S)
    ]
    assert missing(said, found) == []
    assert share(said, found) > 0.97
    assert invented(said, found) == []


@pytest.mark.parametrize('heard', [1], indirect=True)
@pytest.mark.parametrize('message_s', [0.02, 0.1, 0.333, 1.0])
def test_a_stream_has_the_same_utterances_whatever_its_messages(heard, message_s):
    audio, _ = heard
    expected = [(s.start, s.end) for s in speech_segments(audio, min_silence_s=END_SILENCE_S)]
    found = streamed(audio, round(message_s * SAMPLE_RATE))
    assert [(u.start, u.end) for u in found] == expected
    assert all(np.array_equal(u.audio, audio[u.start : u.end]) for u in found)


@pytest.mark.parametrize(('channel', 'least_s'), [(0, 4.0), (1, 4.0), (2, 2.0)])
def test_of_a_stereo_recording_each_channel_and_the_mean_are_heard(channel, least_s):
    with WavFile(SPEECH / 'stereo_diarization.wav') as file:
        audio = resample(mixed(file.read(1 << 30), channel), file.rate)
    assert sum(s.end - s.start for s in speech_segments(audio)) / SAMPLE_RATE > least_s


def test_listening_to_speech_costs_less_than_five_percent_of_a_core():
    audio = load_wav(SPEECH / 'jfk.wav')
    speech = np.concatenate([audio, audio])[: 20 * SAMPLE_RATE]
    cutter = UtteranceCutter()
    cutter.add(np.zeros(SAMPLE_RATE, np.float32))  # which loads the detector
    began = time.process_time()
    for at in range(0, speech.size, 320):
        cutter.add(speech[at : at + 320])
    assert time.process_time() - began < 0.05 * 20.0
