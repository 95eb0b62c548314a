"""Which files a recording consists of."""

from pathlib import Path
from typing import Any

import yaml

from remembr_ros.bags.stand_in import stand_in
from remembr_ros.errors import BagUnreadable

_STORAGE_SUFFIXES = ('.mcap', '.db3')
ZSTD_SUFFIX = '.zstd'  # behind these: rosbag2 compressed the whole file


def storage_files(path: Path) -> list[Path]:
    """Return what to open: the files of a recording in their order.

    A directory whose metadata.yaml is lost, or cannot be read, is read file by file.

    :raises BagUnreadable: there is no recording at that path
    """
    try:
        if not path.exists():
            raise BagUnreadable(
                f'{path} does not exist; give a rosbag2 directory or a .mcap, .db3 or .bag file'
            )
        files = _files_of(path) if path.is_dir() else [path]
        if files == [path] and path.is_file() and not (_is_storage(path) or path.suffix == '.bag'):
            raise BagUnreadable(
                f'{path} is not a bag: need a rosbag2 directory, a .mcap or .db3 file, or a ROS 1 .bag'
            )
        if path.is_file() and path.stat().st_size == 0:
            raise BagUnreadable(f'{path} is empty: it has 0 bytes and no topics')
        for file in filter(Path.is_file, files):
            if what := stand_in(file):
                raise BagUnreadable(f'{file} is {what}')
    except OSError as error:
        raise BagUnreadable(f'{path} cannot be read: {error.strerror}') from error
    return files


def _is_storage(file: Path) -> bool:
    return Path(file.name.removesuffix(ZSTD_SUFFIX)).suffix in _STORAGE_SUFFIXES


def _files_of(path: Path) -> list[Path]:
    """Return what to open of a directory: the files that metadata.yaml names, or the directory itself.

    What they say of their topics is right where metadata.yaml, which may have been made anew or by hand, is
    not. A directory with other files is for rosbags to read or refuse.
    """
    information = _metadata(path)
    try:
        named = [path / Path(name).name for name in information['relative_file_paths']]
        packed = str(information.get('compression_format') or 'zstd')
    except (LookupError, TypeError, AttributeError):
        return _files_without_metadata(path)
    missing = [file.name for file in named if not file.exists()]
    if missing:
        raise BagUnreadable(
            f'{path} lacks files that its metadata.yaml names, missing: {", ".join(missing)} '
            f'(it contains: {_contents(path)}); without metadata.yaml what is there is read; '
            f'{topics_in_metadata(path) or "its topics cannot be told"}'
        )
    return named if named and packed == 'zstd' and all(map(_is_storage, named)) else [path]


def _files_without_metadata(path: Path) -> list[Path]:
    files = sorted(
        (file for file in path.iterdir() if _is_storage(file) and file.is_file()),
        # rosbag2 numbers the parts of a recording: name_0.mcap ... name_10.mcap
        key=lambda file: (len(file.name.removesuffix(ZSTD_SUFFIX)), file.name),
    )
    # Where compressing was interrupted both are there, and the plain one is whole.
    files = [file for file in files if file.suffix != ZSTD_SUFFIX or file.with_suffix('') not in files]
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


def count_in_metadata(path: Path) -> int:
    """Return how many messages metadata.yaml counts; 0 if it cannot be read."""
    try:
        return int(_metadata(path)['message_count'])
    except (LookupError, TypeError, ValueError):
        return 0
