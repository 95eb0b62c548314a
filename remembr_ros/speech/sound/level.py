"""The level of a sound stream, and problems such as silence and clipping."""

import math
import threading
from collections import deque
from itertools import islice

import numpy as np

from remembr_ros.speech.sound.audio import Block

FULL_SCALE = 0.999  # a sample from here on is as loud as samples can be: the highest of 16 bits, and of 8
MAX_CLIPPED = 0.001  # more samples at full scale than this share: words are distorted
PERIOD_S = 5.0  # what the figures are about: the last seconds
SILENT_DB = -120.0


class LevelMeter:
    """Measures the last seconds of a stream. May be used from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks: deque[tuple[float, int, int, float]] = deque()
        self._zero_s = 0.0

    def add(self, block: Block) -> None:
        """Measure what came next, before anything is done to it."""
        if not block.frames.size:
            return
        loud = np.abs(block.frames)
        peak = float(loud.max())
        energy = float(np.square(block.frames, dtype=np.float64).sum())
        clipped = int(np.count_nonzero(loud >= FULL_SCALE))
        with self._lock:
            self._blocks.append((block.seconds, loud.size, clipped, energy))
            self._zero_s = self._zero_s + block.seconds if peak == 0.0 else 0.0
            while sum(block[0] for block in islice(self._blocks, 1, None)) >= PERIOD_S:
                self._blocks.popleft()

    @property
    def clipped(self) -> float:
        """Share of the samples at full scale, 0 to 1."""
        with self._lock:
            total = sum(size for _, size, *_ in self._blocks)
            return sum(count for _, _, count, *_ in self._blocks) / total if total else 0.0

    @property
    def loudness_db(self) -> float:
        """Mean loudness relative to full scale [dB], at least SILENT_DB."""
        with self._lock:
            total = sum(size for _, size, *_ in self._blocks)
            energy = sum(block[3] for block in self._blocks)
        return max(10.0 * math.log10(energy / total), SILENT_DB) if energy else SILENT_DB

    @property
    def zero_s(self) -> float:
        """How long there has been nothing but zeros [s]: a microphone always has some noise."""
        with self._lock:
            return self._zero_s

    def problem(self) -> str:
        """Return what is wrong and what to do; empty: nothing."""
        clipped = self.clipped
        if clipped > MAX_CLIPPED:
            return f'{100.0 * clipped:.1f} % of the sound is clipped: turn the microphone down'
        if self.zero_s >= PERIOD_S:
            return f'nothing but zeros for {self.zero_s:.0f} s: is the microphone switched off?'
        return ''
