"""How a vision language model is asked to caption a segment: options and prompt."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from remembr_ros.captioning.frame_choice import MIN_BYTES
from remembr_ros.errors import InvalidRequest

DTYPES = ('auto', 'float32', 'float16', 'bfloat16')
QUANTIZATIONS = ('none', '8bit', '4bit')


@dataclass(frozen=True, slots=True)
class VlmOptions:
    """The same for every backend, unless it says otherwise.

    :param prompt: file of the prompt; empty: the package's own
    :param max_images: frames of a segment that are shown, evenly spread; the paper shows 6 of 3 s
    :param max_side: larger frames are reduced to this on their longer side [px]
    :param max_image_bytes: of openai: a frame with more as JPEG is sent in worse quality, then smaller
    :param max_tokens: of a caption; a longer one is cut
    :param timeout_s: for the caption of a segment, with all that is tried for it [s]
    :param max_retries: of openai: of a request that failed in a way that a retry can help (429, 5xx, no
        connection)
    :param batch_size: of transformers: segments captioned at once, where several are there
    :param device: of transformers: auto (all GPUs, else the CPU), cpu, cuda, cuda:1, ...
    :param dtype: of transformers: one of DTYPES; auto: that of the weights
    :param quantization: of transformers: one of QUANTIZATIONS
    :param trust_remote_code: of transformers: whether Python code that comes with a model may run here
    :raises InvalidRequest: a value makes no sense
    """

    prompt: str = ''
    max_images: int = 6
    max_side: int = 768
    max_image_bytes: int = 400_000
    max_tokens: int = 512
    timeout_s: float = 60.0
    max_retries: int = 2
    batch_size: int = 4
    device: str = 'auto'
    dtype: str = 'auto'
    quantization: str = 'none'
    trust_remote_code: bool = False

    def __post_init__(self) -> None:
        for name in ('max_images', 'max_side', 'max_tokens', 'timeout_s', 'batch_size'):
            if not 0.0 < getattr(self, name) < float('inf'):
                raise InvalidRequest(f'{name} of a captioner must be positive, not {getattr(self, name)}')
        if self.max_retries < 0:
            raise InvalidRequest(f'max_retries of a captioner cannot be {self.max_retries}; give 0 or more')
        if self.max_image_bytes < MIN_BYTES:
            raise InvalidRequest(f'max_image_bytes of a captioner must be at least {MIN_BYTES}')
        for name, known in (('dtype', DTYPES), ('quantization', QUANTIZATIONS)):
            if getattr(self, name) not in known:
                raise InvalidRequest(
                    f'there is no {name} {getattr(self, name)!r}; choose one of {", ".join(known)}'
                )


MAX_CHARACTERS = 20_000  # a longer file is a mistake, and would be paid for with every caption


def read_prompt(path: str = '') -> str:
    """Return the prompt in a file.

    :param path: of a text file in UTF-8; empty: the one that comes with the package
    :raises InvalidRequest: it is missing, empty, too long or no text
    """
    if not path:
        return _packaged()
    try:
        text = Path(path).expanduser().read_text(encoding='utf-8-sig').strip()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f'the prompt {path} is no text in UTF-8') from error
    except OSError as error:
        raise InvalidRequest(
            f'the prompt {path} cannot be read: {error.strerror or error}; name a text file, or none for the '
            "package's own"
        ) from error
    if not text:
        raise InvalidRequest(f"the prompt {path} is empty; write one, or name no file for the package's own")
    if len(text) > MAX_CHARACTERS:
        raise InvalidRequest(
            f'the prompt {path} has {len(text)} characters; shorten it to {MAX_CHARACTERS} at most'
        )
    return text


@cache
def _packaged() -> str:
    folder = resources.files('remembr_ros.captioning.captioners') / 'prompts'
    return (folder / 'caption.md').read_text(encoding='utf-8').strip()
