"""Which files a recording consists of."""

from pathlib import Path
from typing import Any

import yaml

from remembr_ros.errors import BagUnreadable

_STORAGE_SUFFIXES = ('.mcap', '.db3')


def storage_files(path: Path) -> list[Path]:
    """Return what to open: the files of a recording in their order, or the directory if it is compressed.

    A directory whose metadata.yaml is lost, or cannot be read, is read file by file.

    :raises BagUnreadable: there is no recording at that path
    """
    try:
        if not path.exists():
            raise BagUnreadable(
                f'{path} does not exist; give a rosbag2 directory or a .mcap, .db3 or .bag file'
            )
        if path.is_dir():
            return _files_of(path)
        if path.suffix not in (*_STORAGE_SUFFIXES, '.bag'):
            raise BagUnreadable(
                f'{path} is not a bag: need a rosbag2 directory, a .mcap or .db3 file, or a ROS 1 .bag'
            )
        if path.stat().st_size == 0:
            raise BagUnreadable(f'{path} is empty: it has 0 bytes and no topics')
    except OSError as error:
        raise BagUnreadable(f'{path} cannot be read: {error.strerror}') from error
    return [path]


def _files_of(path: Path) -> list[Path]:
    """Return what to open of a directory: the files that metadata.yaml names, if they can be read alone.

    They are not compressed then, and what they say of their topics is right where metadata.yaml, which may
    have been made anew or by hand, is not. Otherwise the directory is for rosbags to read or refuse.
    """
    information = _metadata(path)
    try:
        named = [path / Path(name).name for name in information['relative_file_paths']]
        plain = str(information.get('compression_mode') or 'none').lower() == 'none'
    except (LookupError, TypeError, AttributeError):
        return _files_without_metadata(path)
    missing = [file.name for file in named if not file.exists()]
    if missing:
        raise BagUnreadable(
            f'{path} lacks files that its metadata.yaml names, missing: {", ".join(missing)} '
            f'(it contains: {_contents(path)}); without metadata.yaml what is there is read; '
            f'{topics_in_metadata(path) or "its topics cannot be told"}'
        )
    known = named and plain and all(file.suffix in _STORAGE_SUFFIXES for file in named)
    return named if known else [path]


def _files_without_metadata(path: Path) -> list[Path]:
    files = sorted(
        (file for file in path.iterdir() if file.suffix in _STORAGE_SUFFIXES and file.is_file()),
        # rosbag2 numbers the parts of a recording: name_0.mcap ... name_10.mcap
        key=lambda file: (len(file.name), file.name),
    )
    if not files:
        raise BagUnreadable(
            f'{path} is no rosbag2 directory: it has no metadata.yaml that can be read and no .mcap or .db3 '
            f'file (it contains: {_contents(path)})'
        )
    return files


def _contents(path: Path) -> str:
    return ', '.join(sorted(file.name for file in path.iterdir())[:10]) or 'nothing'


def _metadata(path: Path) -> Any:
    """Return what metadata.yaml says of the recording; an empty dictionary if it cannot be read."""
    try:
        return yaml.safe_load((path / 'metadata.yaml').read_text())['rosbag2_bagfile_information']
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError):
        return {}


def topics_in_metadata(path: Path) -> str:
    """Return the topics that metadata.yaml names, 'its topics: ...'; empty if it cannot be read."""
    try:
        topics = [entry['topic_metadata'] for entry in _metadata(path)['topics_with_message_count']]
        listed = [f'{topic["name"]} ({topic["type"]})' for topic in topics]
        return f'its topics: {", ".join(listed) or "none"}'
    except (LookupError, TypeError):
        return ''
