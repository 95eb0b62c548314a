"""Opens one file of a recording with rosbags, also those that rosbags refuses and rosbag2 does not."""

import importlib
import io
from contextlib import suppress
from functools import cache
from pathlib import Path, PosixPath
from typing import Any

_ALLOWED = """CREATE TEMP VIEW message_definitions AS SELECT id, topic_type, encoded_message_definition,
replace(encoding, 'unknown', 'ros2msg') AS encoding, type_description_hash FROM main.message_definitions"""


def reader_of(path: Path) -> Any:
    """Return the reader of rosbags; open and close it as a context manager."""
    from rosbags import rosbag1, rosbag2

    if path.is_file():
        path.open('rb').close()  # a PermissionError, which the readers report as damage
    _allow_unknown()
    if path.suffix == '.bag':
        return rosbag1.Reader(path)
    return rosbag2.Reader(_AnyProfile(path) if path.suffix == '.mcap' else path)


class _AnyProfile(PosixPath):
    """An mcap file that is read as one with the profile of ROS 2, whatever its header says: `mcap merge` and
    others leave it out, and rosbag2 itself does not look at it."""

    def open(self, *_: Any, **__: Any) -> Any:
        return _AsRos2(io.FileIO(self))


class _AsRos2(io.BufferedReader):
    HEADER = 17  # behind magic, opcode and length
    PROFILE = b'\4\0\0\0ros2'

    def read(self, size: int | None = -1, /) -> bytes:
        at = self.tell()
        content = super().read(size)
        return self.PROFILE.ljust(len(content), b'\0') if at == self.HEADER else content


@cache
def _allow_unknown() -> None:
    """Let rosbags read mcap files with channels of others, and files with an 'unknown' type: rosbag2 found no
    definition of it, as of feedback."""
    from rosbags.rosbag2 import storage_mcap

    known: Any = storage_mcap.get_msgdef
    vars(storage_mcap)['get_msgdef'] = lambda schema: known(
        schema if schema and schema.encoding in {'ros2msg', 'ros2idl', 'omgidl', ''} else None
    )
    # Schemas may be anything, too: those of protobuf are no text.
    vars(storage_mcap)['read_string'] = lambda file: storage_mcap.read_bytes(file).decode(errors='replace')
    with suppress(ImportError):  # older ones read SQLite otherwise
        importlib.import_module('apsw').connection_hooks.append(lambda file: file.execute(_ALLOWED))
