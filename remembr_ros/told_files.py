"""Files of people and of other programs: in the encodings that those have, names as they are written."""

import json
from collections.abc import Collection
from typing import Any

import yaml

_TEXT, _NOTHING = 'tag:yaml.org,2002:str', 'tag:yaml.org,2002:null'


def text_of(data: bytes) -> str:
    """Return the text of a file in UTF-8, 16 or 32, without a byte order mark; PowerShell writes UTF-16.

    :raises ValueError: it is in another encoding
    """
    try:
        return data.decode(json.detect_encoding(data))
    except UnicodeDecodeError as error:
        raise ValueError(f'it is not in UTF-8 ({error.reason} at byte {error.start}); save it so') from None


def load_yaml(text: str, names: Collection[str]) -> Any:
    """Return what a YAML file holds.

    :param names: fields that are names, and stay as they are written: to YAML 007 is 7, 12:30 750, and no false
    :raises yaml.YAMLError: it is none
    """

    class _Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            self.flatten_mapping(node)  # what it has of another node with <<
            for key, value in node.value:
                if key.value in names:
                    for item in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                        if isinstance(item, yaml.ScalarNode) and item.tag != _NOTHING:
                            item.tag = _TEXT
            return super().construct_mapping(node, deep)

    return yaml.load(text, _Loader)
