"""What /diagnostics says of the memory node."""

from collections.abc import Mapping

from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.memory.caption_intake import CaptionIntake
from remembr_ros.nodes.memory.housekeeping import Housekeeping
from remembr_ros.nodes.memory.services import READ_ONLY
from remembr_ros.nodes.memory.store_gauge import Reading

UNKNOWN = 'unknown'


def diagnosis(
    intake: CaptionIntake,
    reading: Reading,
    housekeeping: Housekeeping,
    embedder: EmbedderBehind | None,
) -> tuple[Level, str, Mapping[str, object]]:
    """Return how the memory is, what is wrong with it, and its figures.

    :param embedder: one that is loaded meanwhile, or could not be; None: it is there
    """
    writer, errors = intake.writer, []
    if writer.is_full:
        errors.append('no more captions are taken until some of those that wait are stored')
    if embedder and embedder.problem and not embedder.loading:
        errors.append(embedder.problem)
    elif writer.problem:
        errors.append(f'captions are not stored: {writer.problem}')
    if reading.disk_full:
        errors.append('the disk is full; make room')
    problem = '' if reading.problem == reading.away else reading.problem
    warnings = [reading.away, problem, housekeeping.problem]
    if embedder and embedder.loading:
        warnings.append(embedder.problem)
    found = [*errors, *filter(None, warnings)]
    level = Level.ERROR if errors else Level.WARN if found else Level.OK
    message = '; '.join(found) or ('read-only' if intake.read_only else 'storing')
    if intake.unwanted:
        level = max(level, Level.WARN)
        message = f'{intake.unwanted} captions were not stored: {READ_ONLY}'
    values = {
        'stored': writer.stored,
        'merged': writer.merged,
        'memories': UNKNOWN if reading.memories is None else reading.memories,
        'waiting': writer.waiting,
        'spooled': reading.spooled,
        'spool [MB]': _megabytes(reading.spool_bytes),
        'rejected': writer.rejected + intake.invalid,
        'latency [s]': f'{writer.latency_s:.3f}',
        'database [MB]': _megabytes(reading.database_bytes),
        'keyframes [MB]': _megabytes(reading.keyframe_bytes),
        'free disk [MB]': _megabytes(reading.free_bytes),
        'last retention': housekeeping.last,
        'problem': '; '.join(found),
    }
    return level, message, values


def _megabytes(size: int | None) -> str:
    return UNKNOWN if size is None else f'{size / 1e6:.1f}'
