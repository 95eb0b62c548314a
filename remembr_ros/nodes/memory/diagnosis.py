"""What /diagnostics says of the memory node."""

from typing import Any

from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.memory.housekeeping import Housekeeping
from remembr_ros.nodes.memory.store_gauge import Reading
from remembr_ros.nodes.memory.store_writer import StoreWriter

CROWDED = 0.5
"""A queue that is fuller than this will not hold much longer."""

UNKNOWN = 'unknown'


def diagnosis(
    writer: StoreWriter,
    reading: Reading,
    housekeeping: Housekeeping,
    *,
    embedder: EmbedderBehind | None = None,
    invalid: int,
    read_only: bool = False,
) -> tuple[Level, str, dict[str, Any]]:
    """Return how the memory is, what is wrong with it, and its figures.

    :param embedder: one that is loaded meanwhile, or could not be; None: it is there
    :param invalid: captions that made no sense
    :param read_only: captions are not stored
    """
    errors = []
    if writer.dropping:
        errors.append(f'captions are dropped, {writer.dropped} so far')
    if embedder and embedder.problem and not embedder.loading:
        errors.append(embedder.problem)
    elif writer.problem:
        errors.append(f'captions are not stored: {writer.problem}')
    if reading.disk_full:
        errors.append('the disk is full; make room')
    filled = writer.filled
    problem = '' if reading.problem == reading.away else reading.problem
    warnings = [reading.away, problem, housekeeping.problem]
    if embedder and embedder.loading:
        warnings.append(embedder.problem)
    if filled > CROWDED:
        warnings.append(f'the queue to the store is {filled:.0%} full')
    found = [*errors, *filter(None, warnings)]
    level = Level.ERROR if errors else Level.WARN if found else Level.OK
    values = {
        'stored': writer.stored,
        'merged': writer.merged,
        'memories': UNKNOWN if reading.memories is None else reading.memories,
        'waiting': writer.waiting,
        'spooled': reading.spooled,
        'spool [MB]': _megabytes(reading.spool_bytes),
        'dropped': writer.dropped,
        'rejected': writer.rejected + invalid,
        'latency [s]': f'{writer.latency_s:.3f}',
        'database [MB]': _megabytes(reading.database_bytes),
        'keyframes [MB]': _megabytes(reading.keyframe_bytes),
        'free disk [MB]': _megabytes(reading.free_bytes),
        'last retention': housekeeping.last,
        'problem': '; '.join(found),
    }
    return level, '; '.join(found) or ('read-only' if read_only else 'storing'), values


def _megabytes(size: int | None) -> str:
    return UNKNOWN if size is None else f'{size / 1e6:.1f}'
