"""Defaults of mxbai-embed-large-v1 that older copies of its files lack."""

from pathlib import Path

NAME = 'mixedbread-ai/mxbai-embed-large-v1'
SHORT_NAME = 'mxbai-embed-large-v1'

QUERY_PROMPT = 'Represent this sentence for searching relevant passages: '
"""Before a question, and not before what is stored (the model's card). Its files say so only since 2025."""

FILES = ('modules.json', 'tokenizer.json')
"""Without one of these it would be loaded all the same, with another pooling or without words."""


def is_mxbai(source: str) -> bool:
    """Return whether that is its name, or the name of a folder that holds it."""
    return Path(source).name == SHORT_NAME
