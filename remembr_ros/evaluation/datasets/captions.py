"""The segments of a captions file, as an evaluation takes them: longer ones out of short ones."""

from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.geometry import mean_pose
from remembr_ros.memory.exchange.captions_file import TimedMemory
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS


def timed(memory: Memory) -> TimedMemory:
    """Return a memory with the middle of its time for its mean."""
    return TimedMemory(memory, (memory.start_ns + memory.end_ns) // 2)


def joined(segments: Sequence[TimedMemory], length_s: float) -> list[TimedMemory]:
    """Return longer segments: those that begin within length_s of the first of them become one.

    Captions are joined, the pose is the mean. A captioner that sees longer segments may say less: what is
    compared is how the memory is cut.
    """
    groups: list[list[TimedMemory]] = []
    for segment in segments:
        # A tenth less: segments of 3 s begin 2.9 to 3.1 s apart.
        if groups and segment.memory.start_ns - groups[-1][0].memory.start_ns < (length_s - 0.3) * NS:
            groups[-1].append(segment)
        else:
            groups.append([segment])
    return [_one(group) if len(group) > 1 else group[0] for group in groups]


def _one(group: Sequence[TimedMemory]) -> TimedMemory:
    memories = [segment.memory for segment in group]
    poses = [memory.pose for memory in memories if memory.pose is not None]
    memory = replace(
        memories[0],
        end_ns=memories[-1].end_ns,
        caption='\n\n'.join(memory.caption for memory in memories),
        scene_text=tuple(dict.fromkeys(text for memory in memories for text in memory.scene_text)),
        pose=mean_pose(poses) if poses else None,
        travelled=sum(memory.travelled for memory in memories),
    )
    return TimedMemory(memory, sum(segment.mean_ns for segment in group) // len(group))
