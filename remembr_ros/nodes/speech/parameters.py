"""The parameters of the speech node."""

import dataclasses

from remembr_ros.forms.parameter import parameter
from remembr_ros.nodes.base.parameters import NodeParameters


@dataclasses.dataclass(frozen=True)
class SpeechParameters(NodeParameters):
    """Parameters of the speech node."""

    source: str = parameter('topic', 'where sound comes from', choices=('topic', 'microphone', 'wav'))
    microphone: str = parameter(
        '', 'part of its name, or its number (source microphone); empty: the default one'
    )
    wav_file: str = parameter('', 'file to hear, PCM (source wav)')
    wav_real_time: bool = parameter(True, 'false: the file is heard as fast as it is understood')
    sample_rate: int = parameter(16000, 'of topic audio', '1000 to 192000 Hz')
    channels: int = parameter(1, 'of topic audio, interleaved', '1 to 32')
    channel: int = parameter(0, 'which channel is heard, from 1; 0: the mean of all', '0 to 32')
    whisper_model: str = parameter('small', 'Whisper model: tiny to large-v3, a hub name, or a folder')
    device: str = parameter(
        'auto', 'where Whisper runs; auto: cuda if it works, else cpu', choices=('auto', 'cpu', 'cuda')
    )
    compute_type: str = parameter(
        'auto', 'numbers that Whisper computes with; auto: float16 on cuda, int8 on cpu'
    )
    beam_size: int = parameter(5, 'readings that Whisper follows; 1 is fastest', '1 to 20')
    language: str = parameter('', 'language spoken, such as en; empty: detected')
    min_confidence: float = parameter(0.3, 'what Whisper is less sure of is no question', '0 to 1', live=True)
    wake_phrases: str = parameter(
        'robot, hey robot',
        'what a question begins with, separated by commas; empty: all speech is questions',
        live=True,
    )
    follow_up: float = parameter(
        8.0,
        'so long after an answer, or the wake phrase alone, a question needs no wake phrase; 0: always',
        '0 to 600 s',
        live=True,
    )
    echo_tail: float = parameter(
        0.5, 'so long after /speaking the robot still hears itself', '0 to 10 s', live=True
    )
    speaking_timeout: float = parameter(
        60.0, '/speaking true counts so long, unless it is repeated', '1 to 3600 s', live=True
    )
    threshold: float = parameter(0.5, 'probability from which on sound is speech', '0.05 to 0.95')
    end_silence: float = parameter(0.8, 'a longer pause ends a question', '0.1 to 10 s')
    max_utterance: float = parameter(
        20.0, 'longer speech is cut, at the quietest place of its second half', '1 to 30 s'
    )
    queue_length: float = parameter(
        30.0, 'sound that may wait for Whisper; then the oldest is lost', '1 to 600 s'
    )
    tts: str = parameter('none', 'program that speaks answer_text', choices=('none', 'espeak-ng', 'piper'))
    tts_voice: str = parameter('', 'espeak-ng: a voice such as en-us; piper: the file of a voice, *.onnx')
    tts_max_characters: int = parameter(500, 'a longer answer is cut', '1 to 100000')
    tts_timeout: float = parameter(
        45.0, 'an answer that takes longer to speak is broken off', '0.1 to 3600 s'
    )
