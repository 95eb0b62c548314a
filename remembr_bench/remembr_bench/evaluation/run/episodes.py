"""The originals of papers, as their authors ship them: episodes of pictures as sequences of a run."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from remembr_bench.evaluation.datasets import sample
from remembr_bench.evaluation.originals.env_qa import load_env_qa
from remembr_bench.evaluation.originals.episodes import Asked, EpisodeTrial, OriginalSet, PicturedEpisode
from remembr_bench.evaluation.originals.findingdory_hub import load_findingdory
from remembr_bench.evaluation.originals.infini_thor import load_infini_thor
from remembr_bench.evaluation.originals.openeqa import load_openeqa
from remembr_bench.evaluation.originals.vq3d import load_vq3d
from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.run.recordings import counted, remember_stream
from remembr_ros.agent.model.answer import Question
from remembr_ros.bags.frames import Event
from remembr_ros.bags.pictures import open_pictures
from remembr_ros.captioning.frame_choice import evenly
from remembr_ros.captioning.observation import Remembering
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.images import Frame
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

ORIGINALS: dict[str, Callable[[Path], OriginalSet]] = {
    'openeqa': load_openeqa,
    'findingdory-hub': load_findingdory,
    'infini-thor': load_infini_thor,
    'env-qa': load_env_qa,
    'vq3d': load_vq3d,
}
"""Of the papers, as their authors ship them: pictures with questions."""

BEGIN_NS = 1_735_722_000 * NS
"""When an episode whose pictures have no times begins: 2025-01-01T09:00Z."""

OnFrame = Callable[[str, int, int], None]
"""Called with an episode's name, the frames read and all frames."""


def original(config: RunConfig) -> OriginalSet:
    """Return what is in the folder of an original; of several episodes those that are wanted.

    :raises BagUnreadable: a file is missing, damaged or in another format
    :raises InvalidRequest: there is no such episode
    """
    found = ORIGINALS[config.data](Path(config.folder).expanduser())
    if unknown := set(config.episodes) - {episode.name for episode in found.episodes}:
        raise InvalidRequest(f'there is no episode {sorted(unknown)[0]!r}, but {found.episodes[0].name!r}')
    kept = [one for one in found.episodes if not config.episodes or one.name in config.episodes]
    return replace(found, episodes=tuple(kept))


def load_episodes(config: RunConfig, cache: Path, on_frame: OnFrame) -> list[sample.Sequence]:
    found = original(config)
    if not found.pictured:
        counts = found.counts()
        listed = ', '.join(f'{name} {n}' for name, n in counts['by_category'].items())
        raise BagUnreadable(
            f'{config.folder} has {counts["questions"]} questions ({listed}) about {counts["episodes"]} '
            f'episodes, but no pictures: there is no {found.episodes[0].pictures}. Get them: {found.where}'
        )
    sequences = [_episode(config, one, cache, partial(on_frame, one.name)) for one in found.pictured]
    excluded = (*found.excluded, *found.missing)
    return [replace(sequences[0], excluded=excluded), *sequences[1:]]


def _episode(
    config: RunConfig, episode: PicturedEpisode, cache: Path, on_frame: Callable[[int, int], None]
) -> sample.Sequence:
    """Return an episode as a sequence, a memory for so many pictures of it as its length holds."""
    name, length_s = episode.name, config.segment_length or episode.length_s
    stamps: list[int] = []
    with open_pictures(episode.pictures, start_ns=BEGIN_NS, rate_hz=episode.rate_hz) as stream:
        wanted = range(stream.frame_count)
        chosen = set(evenly(wanted, config.subsample or len(wanted)))
        # What nobody knows the place of stands on a line, a metre a picture, so that places can be chosen.
        on_line = [Pose(float(number), 0.0) for number in wanted] if stream.pose_source is None else None
        poses = episode.poses() if episode.poses else on_line
        events = _placed(counted(stream, on_frame), stamps, chosen, poses)
        found = remember_stream(
            stream, events, config, cache, remembering=Remembering('robot', name), length_s=length_s
        )
    frames = {one.memory.id: _middle(one.memory, stamps, chosen) for one in found}
    memories = tuple(one.memory for one in found)
    samples = tuple(_sample(asked, name, memories, frames, stamps) for asked in episode.asked)
    images = {one.memory.id: one.images for one in found if one.images}
    trial = EpisodeTrial({asked.id: asked for asked in episode.asked}, frames)
    return sample.Sequence(name, memories, samples, (), images, trial)


def _placed(
    events: Iterator[Event],
    stamps: list[int],
    chosen: Collection[int],
    poses: Sequence[Pose | None] | None,
) -> Iterator[Event]:
    """Yield the frames of the chosen numbers, each with its pose before it; note the stamps of all.

    :param poses: by the number of the frame; None: those of the events
    """
    for event in events:
        if not isinstance(event, Frame):
            if poses is None:
                yield event
            continue
        number = len(stamps)
        stamps.append(event.stamp_ns)
        pose = poses[number] if poses is not None and number < len(poses) else None
        if pose is not None:
            yield StampedPose(event.stamp_ns, pose)
        if number in chosen:
            yield event


def _middle(memory: Memory, stamps: list[int], chosen: Collection[int]) -> int:
    """Return the number of the frame in the middle of a memory."""
    inside = range(bisect_left(stamps, memory.start_ns), bisect_right(stamps, memory.end_ns))
    numbers = [number for number in inside if number in chosen]
    return numbers[len(numbers) // 2]


def _sample(
    asked: Asked, name: str, memories: Sequence[Memory], frames: dict[str, int], stamps: list[int]
) -> sample.Sample:
    """Return a question as it is asked at the end of its episode, or before a frame of it."""
    before_ns = None if asked.before is None else stamps[min(asked.before, len(stamps) - 1)] - 1
    seen = [one for one in memories if before_ns is None or one.start_ns <= before_ns] or memories[:1]
    shows = {stamps[number] for number in asked.frames if number < len(stamps)}
    relevant = {one.id for one in seen if any(one.start_ns <= at <= one.end_ns for at in shows)}
    return sample.Sample(
        id=asked.id,
        length='LONG',
        question=Question(asked.text, seen[-1].end_ns + NS, seen[-1].pose, map_id=name),
        scope=Scope(before_ns=before_ns, map_id=name),
        window_ns=(seen[0].start_ns, seen[-1].end_ns),
        memories=len(seen),
        relevant=frozenset(relevant),
        truth=asked.truth,
        category=asked.category,
        groups=asked.groups,
    )
