"""What a vision language model is told to do with the frames of a segment."""

from functools import cache
from importlib import resources
from pathlib import Path

from remembr_ros.errors import InvalidRequest

MAX_CHARACTERS = 20_000  # a longer file is a mistake, and would be paid for with every caption


def read_prompt(path: str = '') -> str:
    """Return the prompt in a file.

    :param path: of a text file in UTF-8; empty: the one that comes with the package
    :raises InvalidRequest: it is missing, empty, too long or no text
    """
    if not path:
        return _packaged()
    try:
        text = Path(path).expanduser().read_text(encoding='utf-8').strip()
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
