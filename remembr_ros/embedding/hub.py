"""Whether a model of the Hugging Face hub is cached, or can be downloaded."""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlparse


def is_cached(name: str) -> bool:
    """Return whether a model was downloaded before."""
    try:
        from huggingface_hub import try_to_load_from_cache

        return isinstance(try_to_load_from_cache(name, 'config.json'), str)
    except (ImportError, ValueError):  # not installed, or not a hub name
        return False


def model_file(name: str, file: str, *, local_files_only: bool) -> Path | None:
    """Return a file of a model, from the cache or fetched; None: the model has none of that name.

    :raises Exception: those of huggingface_hub: there is no such model, or the hub does not answer
    """
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    try:
        return Path(hf_hub_download(name, file, local_files_only=local_files_only))
    except EntryNotFoundError:
        return None


def hub_reachable(timeout_s: float = 1.5) -> bool:
    """Ask before the hub's own client does: it retries for 20 s, for each of a model's files.

    :param timeout_s: in all, also where a name server does not answer, of which sockets know no timeout
    """
    if os.environ.get('HF_HUB_OFFLINE', '').upper() in ('1', 'TRUE', 'YES', 'ON'):
        return False
    hub = urlparse(os.environ.get('HF_ENDPOINT', 'https://huggingface.co'))
    reached = threading.Event()

    def look() -> None:
        address = (hub.hostname or '', hub.port or 443)
        with suppress(OSError), socket.create_connection(address, timeout=timeout_s):
            reached.set()

    looking = threading.Thread(target=look, name='hub', daemon=True)
    looking.start()
    looking.join(timeout_s)
    return reached.is_set()
