"""Whether a model of the Hugging Face hub is here, or can be fetched."""

import os
import socket
from urllib.parse import urlparse


def is_cached(name: str) -> bool:
    """Return whether a model was downloaded before."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:
        return False
    try:
        return isinstance(try_to_load_from_cache(name, 'config.json'), str)
    except ValueError:  # not a hub name
        return False


def hub_reachable(timeout_s: float = 3.0) -> bool:
    """Ask before the hub's own client does: it retries for 20 s, for each of a model's files."""
    if os.environ.get('HF_HUB_OFFLINE', '').upper() in ('1', 'TRUE', 'YES', 'ON'):
        return False
    hub = urlparse(os.environ.get('HF_ENDPOINT', 'https://huggingface.co'))
    try:
        with socket.create_connection((hub.hostname or '', hub.port or 443), timeout=timeout_s):
            return True
    except OSError:
        return False
