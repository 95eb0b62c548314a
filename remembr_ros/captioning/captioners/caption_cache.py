"""A captioner's work, kept: the same images are captioned once."""

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from remembr_ros.captioning.captioners.captioner import Caption, Captioner, TimedCaptioner, caption_segment
from remembr_ros.images import Bgr

_log = logging.getLogger(__name__)


class CachingCaptioner:
    """Keeps every caption in a folder, by the content of its images and by what made it.

    A caption appears whole or not at all; one that cannot be read is made anew.

    :param captioner: asked for what is not there
    :param folder: made when the first caption is kept
    :param settings: whatever else decides the captions, such as the model's name and the prompt
    """

    def __init__(self, captioner: Captioner, folder: Path, settings: str = '') -> None:
        self._captioner = captioner
        self._folder = folder
        self._settings = settings
        self.found = 0
        """How many captions were there."""
        self.made = 0
        """How many the captioner made."""

    @property
    def name(self) -> str:
        return self._captioner.name

    def caption(self, images: Sequence[Bgr]) -> Caption:
        return self._kept_or_made(images, (), lambda: self._captioner.caption(images))

    def caption_between(self, images: Sequence[Bgr], start_ns: int, end_ns: int) -> Caption:
        """See :class:`TimedCaptioner`; the time is part of the key if the captioner looks at it."""
        times = (start_ns, end_ns) if isinstance(self._captioner, TimedCaptioner) else ()
        return self._kept_or_made(
            images, times, lambda: caption_segment(self._captioner, images, start_ns, end_ns)
        )

    def _kept_or_made(
        self, images: Sequence[Bgr], times: tuple[int, ...], make: Callable[[], Caption]
    ) -> Caption:
        file = self._folder / f'{self._key(images, times)}.json'
        kept = _read(file)
        if kept is not None:
            self.found += 1
            return kept
        caption = make()
        self.made += 1
        try:
            _write(file, caption)
        except OSError as error:
            _log.warning('a caption is not kept for the next time: %s', error)
        return caption

    def _key(self, images: Sequence[Bgr], times: tuple[int, ...]) -> str:
        # Without times it is the key that it was before there were any: what was kept stays of use.
        digest = hashlib.sha256(json.dumps([self.name, self._settings, len(images), *times]).encode())
        for image in images:
            digest.update(str(image.shape).encode())
            digest.update(image.tobytes())
        return digest.hexdigest()


def _read(file: Path) -> Caption | None:
    try:
        kept = json.loads(file.read_text(encoding='utf-8'))
        return Caption(str(kept['text']), tuple(map(str, kept['scene_text'])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, caption: Caption) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, suffix='.part')
    try:
        with os.fdopen(handle, 'w', encoding='utf-8') as kept:
            json.dump({'text': caption.text, 'scene_text': caption.scene_text}, kept, ensure_ascii=False)
        os.replace(temporary, file)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
