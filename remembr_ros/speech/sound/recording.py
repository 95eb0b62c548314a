"""Speech as a browser records it: webm, ogg, wav or mp4."""

import io
from itertools import chain

import numpy as np

from remembr_ros.errors import InvalidRequest, TranscriberUnavailable
from remembr_ros.speech.sound.audio import SAMPLE_RATE, Audio

FORMATS = 'matroska,webm,ogg,wav,mov,mp4'  # others may name further files, or wait for a network
LONGEST_S = 60.0  # [s] more is no question; a small file may hold hours of silence


def decode_recording(data: bytes) -> Audio:
    """Return the sound of a file.

    :raises InvalidRequest: it is no sound, or too long
    :raises TranscriberUnavailable: what decodes it, which comes with faster-whisper, is not installed
    """
    try:
        import av
    except ImportError as error:
        raise TranscriberUnavailable(
            'recordings cannot be decoded; run: pip install "remembr_ros[speech]"'
        ) from error

    pieces = [np.zeros(0, np.float32)]
    length = 0
    try:
        options = {'format_whitelist': FORMATS}
        with av.open(io.BytesIO(data), 'r', container_options=options, metadata_errors='ignore') as file:
            resampler = av.AudioResampler(format='flt', layout='mono', rate=SAMPLE_RATE)
            for frame in chain(file.decode(audio=0), [None]):
                for piece in resampler.resample(frame):
                    pieces.append(piece.to_ndarray().reshape(-1).astype(np.float32))
                    length += len(pieces[-1])
                if length > LONGEST_S * SAMPLE_RATE:
                    raise InvalidRequest(f'the recording is longer than {LONGEST_S:.0f} s; say less')
    except (av.error.FFmpegError, IndexError, ValueError) as error:
        raise InvalidRequest(
            f'the recording of {len(data)} bytes is no sound ({error}); send webm, ogg, wav or mp4'
        ) from error
    return np.concatenate(pieces)
