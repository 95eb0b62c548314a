"""Keyframes: JPEG files in a folder beside the database."""

import os
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from remembr_ros.errors import InvalidRequest


class KeyframeFolder:
    """Stores the keyframes of memories as files named <memory id>_<index>.jpg.

    :param folder: made when the first keyframe is stored
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, memory_id: str, images: Sequence[bytes]) -> tuple[str, ...]:
        """Store the JPEGs of a memory in place of those it had; return their file names.

        A file appears whole or not at all, whatever happens meanwhile.

        :raises OSError: the disk is full or not writable
        """
        names: list[str] = []
        for index, image in enumerate(images):
            self.folder.mkdir(parents=True, exist_ok=True)
            name = f'{memory_id}_{index}.jpg'
            path = self.folder / name
            if not (path.exists() and path.read_bytes() == image):
                handle, temporary = tempfile.mkstemp(dir=self.folder, suffix='.part')
                try:
                    with os.fdopen(handle, 'wb') as file:
                        file.write(image)
                        file.flush()
                        os.fsync(file.fileno())
                    os.replace(temporary, path)
                except OSError:
                    with suppress(OSError):
                        Path(temporary).unlink(missing_ok=True)
                        self.remove(names)  # nothing would name them
                    raise
            names.append(name)
        return tuple(names)

    def get(self, name: str) -> bytes:
        """Return the JPEG of that name.

        :raises InvalidRequest: there is none
        """
        if Path(name).name != name or '\0' in name:
            raise InvalidRequest(f'{name!r} is not the name of a keyframe')
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise InvalidRequest(f'there is no keyframe {name!r} in {self.folder}: {error}') from error

    def remove(self, names: Iterable[str]) -> None:
        """Delete keyframes; missing ones are passed over."""
        for name in names:
            (self.folder / Path(name).name).unlink(missing_ok=True)

    def count(self) -> int:
        """Return how many keyframes are stored."""
        return sum(1 for _ in self.folder.glob('*.jpg'))
