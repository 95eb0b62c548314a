"""A cache of captions: the same images are captioned once."""

import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from remembr_bench.replaced_file import replace_file
from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr

_log = logging.getLogger(__name__)
_FORMAT = TypeAdapter(Caption)


class CachingCaptioner:
    """Keeps every caption in a folder, by the content of its images and by what made it.

    A caption appears whole or not at all; one that cannot be read is made anew.

    :param captioner: asked for what is not there; not one that goes by the time of a clip
    :param folder: made when the first caption is kept
    :param settings: whatever else decides the captions, such as the model's name and the prompt
    """

    def __init__(self, captioner: Captioner, folder: Path, settings: str = '') -> None:
        self.name = captioner.name
        self._captioner = captioner
        self._folder = folder
        self._settings = settings

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        files = [self._folder / f'{self._key(clip.images)}.json' for clip in clips]
        kept = [_read(file) for file in files]
        made = self._captioner.caption(
            [clip for clip, known in zip(clips, kept, strict=True) if known is None]
        )
        for file, known in zip(files, kept, strict=True):
            yield known or self._keep(next(made), file)

    def close(self) -> None:
        self._captioner.close()

    def _keep(self, outcome: Caption | CaptionerFailed, file: Path) -> Caption | CaptionerFailed:
        if isinstance(outcome, Caption):
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                replace_file(file, _FORMAT.dump_json(outcome))
            except OSError as error:
                _log.warning('a caption is not kept for the next time: %s', error)
        return outcome

    def _key(self, images: Sequence[Bgr]) -> str:
        digest = hashlib.sha256(json.dumps([self.name, self._settings, len(images)]).encode())
        for image in images:
            digest.update(str(image.shape).encode())
            digest.update(image.tobytes())
        return digest.hexdigest()


def _read(file: Path) -> Caption | None:
    try:
        return _FORMAT.validate_json(file.read_bytes())
    except (OSError, ValueError):
        return None
