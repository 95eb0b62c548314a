"""The sequences that a run is about: memories and questions, from files or out of rosbags."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from remembr_bench.evaluation.datasets.building import load_building
from remembr_bench.evaluation.datasets.navqa import load_captions, load_navqa, sequence_name
from remembr_bench.evaluation.datasets.navqa_table import EDITIONS, find_sequences
from remembr_bench.evaluation.datasets.sample import Sample, Sequence
from remembr_bench.evaluation.findingdory.sequence import load_home
from remembr_bench.evaluation.needles.trial import load_trajectory
from remembr_bench.evaluation.records.config import NEEDLE_LENGTHS, RunConfig
from remembr_bench.evaluation.run.episodes import ORIGINALS, load_episodes
from remembr_bench.evaluation.run.recordings import remember_bag
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.consolidation.rule import consolidate, consolidation_for
from remembr_ros.memory.exchange.captions_file import ROBOT, TimedMemory
from remembr_ros.memory.model.record import Memory, Observation

OnFrame = Callable[[str, int, int], None]
"""Called with a sequence's name, the frames read and all frames, while a bag is captioned; or with the homes
that are simulated already, and all of them."""


def load(
    config: RunConfig, cache: Path, embedder: Embedder, on_frame: OnFrame = lambda name, done, total: None
) -> list[Sequence]:
    """Return the sequences of a run.

    :param cache: folder of the captions that were made before
    :param embedder: tells which captions say the same, for consolidation
    :raises InvalidRequest: the folder does not hold the data set
    :raises BagUnreadable: a file or a bag is missing, damaged or in another format
    :raises CaptionerFailed: the captioner of a bag is not installed or not configured
    """
    if config.homes:
        is_needles = config.data == 'needles'
        homes = [*product(config.homes, config.lengths or NEEDLE_LENGTHS if is_needles else (0,))]
        loaded = []
        for number, (seed, tokens) in enumerate(homes):
            on_frame('homes', number, len(homes))
            loaded.append(load_trajectory(config, seed, tokens) if is_needles else load_home(config, seed))
        return loaded
    if not config.folder:
        raise InvalidRequest(f'where is {config.data}? Give its folder with --data')
    folder = Path(config.folder).expanduser()
    if config.data in ORIGINALS:
        sequences = load_episodes(config, cache, on_frame)
    elif config.data == 'building':
        sequences = [_building(config, folder, cache, on_frame)]
    else:
        numbers = config.sequences or tuple(sorted(config.bags))
        numbers = tuple(sorted(set(numbers))) or tuple(find_sequences(folder, EDITIONS[config.data]))
        sequences = [_navqa(config, folder, number, cache, on_frame) for number in numbers]
    return [_consolidated(s, embedder) for s in sequences] if config.consolidation else sequences


def _navqa(config: RunConfig, folder: Path, number: int, cache: Path, on_frame: OnFrame) -> Sequence:
    edition = EDITIONS[config.data]
    known = find_sequences(folder, edition)
    if number not in known:
        raise InvalidRequest(f'{folder} has no sequence {number}; it has {known}')
    name = sequence_name(number)
    observations: list[Observation] = []
    if number in config.bags:
        bag, told = Path(config.bags[number]).expanduser(), partial(on_frame, name)
        observations = remember_bag(bag, config, cache, robot=ROBOT, map_id=name, on_frame=told)
        memories = [observation.memory for observation in observations]
        segments = [TimedMemory(m, (m.start_ns + m.end_ns) // 2) for m in memories]
    else:
        segments = load_captions(folder, number, config.captions)
    sequence = load_navqa(folder, number, segments, edition)
    return replace(sequence, images={o.memory.id: o.images for o in observations if o.images})


def _building(config: RunConfig, folder: Path, cache: Path, on_frame: OnFrame) -> Sequence:
    bag = Path(config.bags[min(config.bags)]).expanduser() if config.bags else folder / 'bag'
    told = partial(on_frame, 'building')
    observations = remember_bag(bag, config, cache, robot='robot', map_id='', on_frame=told)
    return load_building(folder, observations)


def _consolidated(sequence: Sequence, embedder: Embedder) -> Sequence:
    """Return the sequence with stays merged; what holds an answer is then the memory that absorbed it.

    A stay is cut where a window begins or ends: its later part would tell a question of its future.
    """
    cuts = {s.window_ns[0] for s in sequence.samples}
    cuts |= {s.scope.before_ns + 1 for s in sequence.samples if s.scope.before_ns is not None}
    pieces: list[list[Memory]] = []
    for memory in sequence.memories:
        if not pieces or memory.start_ns in cuts:
            pieces.append([])
        pieces[-1].append(memory)
    rule = consolidation_for(embedder)
    merged = [memory for piece in pieces for memory in consolidate(piece, embedder, rule)]
    starts = [memory.start_ns for memory in merged]
    now = {m.id: merged[max(bisect_right(starts, m.start_ns) - 1, 0)].id for m in sequence.memories}
    samples = tuple(
        replace(
            sample,
            memories=_count(starts, sample),
            relevant=frozenset(now[i] for i in sample.relevant),
        )
        for sample in sequence.samples
    )
    return replace(sequence, memories=tuple(merged), samples=samples)


def _count(starts: list[int], sample: Sample) -> int:
    """Return how many memories that begin then are inside the window."""
    before_ns = sample.scope.before_ns
    last = bisect_right(starts, before_ns) if before_ns is not None else len(starts)
    return last - bisect_left(starts, sample.window_ns[0])
