"""The data sets of papers, as their authors ship them: episodes of pictures as sequences of a run."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from remembr_bench.evaluation.datasets import sample
from remembr_bench.evaluation.originals.env_qa import load_env_qa
from remembr_bench.evaluation.originals.episodes import EpisodeTrial, Footage, Original
from remembr_bench.evaluation.originals.findingdory_hub import load_findingdory
from remembr_bench.evaluation.originals.infini_thor import load_infini_thor
from remembr_bench.evaluation.originals.openeqa import load_openeqa
from remembr_bench.evaluation.originals.vq3d import load_vq3d
from remembr_bench.evaluation.records.config import PlannerName, RunConfig
from remembr_bench.evaluation.run.recordings import counted, remember_stream
from remembr_ros.agent.model.answer import Question
from remembr_ros.bags.frames import Event
from remembr_ros.bags.pictures import is_pictures, open_pictures
from remembr_ros.captioning.frame_choice import evenly
from remembr_ros.captioning.observation import Remembering
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.images import Frame
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import NS

ORIGINALS: dict[str, Callable[[Path], Original]] = {
    'openeqa': load_openeqa,
    'findingdory-hub': load_findingdory,
    'infini-thor': load_infini_thor,
    'env-qa': load_env_qa,
    'vq3d': load_vq3d,
}
BEGIN_NS = 1_735_722_000 * NS
"""When an episode whose pictures have no times begins: 2025-01-01T09:00Z."""


def original(config: RunConfig) -> Original:
    """Return what is in the folder of a data set; of several episodes those that are wanted.

    :raises BagUnreadable: a file is missing, damaged or in another format
    :raises InvalidRequest: there is no such episode, or no oracle
    """
    try:
        found = ORIGINALS[config.data](Path(config.folder).expanduser())
    except OSError as error:  # such as a name that is too long
        raise BagUnreadable(f'{config.folder} cannot be read: {error}') from error
    found = _each_once(found)
    if unknown := set(config.episodes) - {episode.name for episode in found.episodes}:
        known = ', '.join(episode.name for episode in found.episodes)[:200]
        raise InvalidRequest(f'there is no episode {min(unknown)!r}; there are {known}')
    if config.planner is PlannerName.ORACLE and not any(
        q.frames for one in found.episodes for q in one.asked
    ):
        raise InvalidRequest(f'{config.data} does not tell which pictures show an answer: it has no oracle')
    kept = [one for one in found.episodes if not config.episodes or one.name in config.episodes]
    return replace(found, episodes=kept)


def _each_once(found: Original) -> Original:
    """Return a data set without the questions that have no words, or the id of another."""
    ids, excluded, episodes = set[str](), [*found.excluded], []
    for one in found.episodes:
        kept = []
        for asked in one.asked:
            if asked.text.strip() and asked.id not in ids:
                ids.add(asked.id)
                kept.append(asked)
            else:
                why = 'another one has its id' if asked.id in ids else 'it has no words'
                excluded.append(sample.Excluded(asked.id, asked.text, why))
        episodes += [replace(one, asked=kept)] if kept else []
    return replace(found, episodes=episodes, excluded=excluded)


def load_episodes(
    config: RunConfig, cache: Path, on_frame: Callable[[str, int, int], None]
) -> list[sample.Sequence]:
    """Return the episodes whose pictures can be read; the others are excluded.

    :param on_frame: called with an episode's name, the frames read and all frames
    :raises BagUnreadable: none has pictures; see :func:`original`
    """
    found, sequences, excluded = original(config), [], []
    for one in found.episodes:
        try:
            if not is_pictures(one.pictures):
                raise BagUnreadable(f'there is no {one.pictures}, or no picture in it')
            sequences.append(_episode(config, one, cache, partial(on_frame, one.name)))
        except BagUnreadable as error:
            excluded.append(sample.Excluded(one.name, f'{len(one.asked)} questions', str(error)))
    if not sequences:
        categories = Counter(asked.category for one in found.episodes for asked in one.asked)
        why = next((row.reason for row in (*excluded, *found.excluded)), 'no episode')
        listed = ', '.join(f'{name} {n}' for name, n in sorted(categories.items()))
        raise BagUnreadable(
            f'{config.folder} has {categories.total()} questions ({listed}) of {len(excluded)} episodes, but '
            f'no pictures: {why}. Get them: {found.where}'
        )
    return [replace(sequences[0], excluded=(*found.excluded, *excluded)), *sequences[1:]]


def _episode(
    config: RunConfig, footage: Footage, cache: Path, on_frame: Callable[[int, int], None]
) -> sample.Sequence:
    """Return an episode as a sequence: a memory holds as many pictures as its length does."""
    name, length_s = footage.name, config.segment_length or footage.length_s
    stamps: list[int] = []
    frames_alone = config.planner is PlannerName.FRAMES
    with open_pictures(footage.pictures, start_ns=BEGIN_NS, rate_hz=footage.rate_hz) as stream:
        every = range(stream.frame_count)
        most = config.frames if frames_alone and not config.frame_rate else len(every)
        chosen = set(evenly(every, config.subsample or most))
        # What nobody knows the place of stands on a line, a metre a picture, so that places can be chosen.
        on_line = [Pose(float(number), 0.0) for number in every] if stream.pose_source is None else None
        poses = footage.poses() if footage.poses else on_line
        events = _placed(counted(stream, on_frame), stamps, chosen, poses)
        # Many episodes are held at once: without the pictures that nobody looks at.
        remembering = Remembering('robot', name, keyframes=int(frames_alone))
        found = remember_stream(stream, events, config, cache, remembering=remembering, length_s=length_s)
    memories, frames, shown = tuple(one.memory for one in found), {}, {}
    for one in memories:
        inside = range(bisect_left(stamps, one.start_ns), bisect_right(stamps, one.end_ns))
        shown[one.id] = [number for number in inside if number in chosen]
        frames[one.id] = shown[one.id][len(shown[one.id]) // 2]
    samples = tuple(
        sample.Sample(
            id=asked.id,
            length='LONG',
            question=Question(asked.text, memories[-1].end_ns + NS, memories[-1].pose, map_id=name),
            scope=Scope(map_id=name),
            window_ns=(memories[0].start_ns, memories[-1].end_ns),
            memories=len(memories),
            relevant=frozenset(one for one in shown if not asked.frames.isdisjoint(shown[one])),
            truth=asked.truth,
            category=asked.category,
            groups=asked.groups,
        )
        for asked in footage.asked
    )
    images = {one.memory.id: one.images for one in found if one.images}
    trial = EpisodeTrial({asked.id: asked for asked in footage.asked}, frames)
    return sample.Sequence(name, memories, samples, (), images, trial)


def _placed(
    events: Iterator[Event], stamps: list[int], chosen: Collection[int], poses: Sequence[Pose | None] | None
) -> Iterator[Event]:
    """Yield the frames of the chosen numbers, each with its pose before it; note the stamps of all.

    :param poses: by the number of the frame; None: those of the events
    """
    for event in events:
        if isinstance(event, Frame):
            number = len(stamps)
            stamps.append(event.stamp_ns)
            if poses is not None and number < len(poses) and (pose := poses[number]) is not None:
                yield StampedPose(event.stamp_ns, pose)
            if number not in chosen:
                continue
        if isinstance(event, Frame) or poses is None:
            yield event
