"""A stream of sound, of which the newest part is kept."""

import numpy as np

from remembr_ros.speech.sound.audio import Audio


class Tape:
    """Keeps sound by its place in the stream; adding and forgetting cost no copies of what is kept.

    Places are indices of samples, counted from the beginning of the stream.
    """

    def __init__(self) -> None:
        self.start = 0  # place of the first sample that is kept
        self.end = 0  # place after the last one
        self._room: Audio = np.zeros(1 << 14, np.float32)
        self._first = 0  # index in the room of the first sample that is kept

    def append(self, audio: Audio) -> None:
        """Add what follows; shape (samples,)."""
        kept = self.end - self.start
        if self._first + kept + audio.size > self._room.size:
            room = np.zeros(max(2 * (kept + audio.size), 1 << 14), np.float32)
            room[:kept] = self.piece(self.start, self.end)
            self._room, self._first = room, 0
        at = self._first + kept
        self._room[at : at + audio.size] = audio
        self.end += audio.size

    def piece(self, start: int, end: int) -> Audio:
        """Return what lies between two places, as far as it is kept; a view, good until the next append."""
        first = self._first - self.start
        return self._room[first + max(start, self.start) : first + max(min(end, self.end), self.start)]

    def forget(self, before: int) -> None:
        """Keep nothing before a place."""
        before = min(max(before, self.start), self.end)
        self._first += before - self.start
        self.start = before
