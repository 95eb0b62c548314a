"""A memory on its way from one store to another, with all that belongs to it, in plain types."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remembr_ros.geometry import Pose, is_place
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import MAX_NS

FORMAT = 'remembr_ros memories'
VERSION = 1


@dataclass(frozen=True, slots=True)
class Header:
    """What a portable file says of itself.

    :param embedder: name of the model that made the vectors; empty: there are none
    :param dimension: of the vectors
    :param vectors: whether the memories come with the vectors of their passages
    :param keyframes: whether they come with their images
    :param count: how many memories there should be; None: not known
    """

    embedder: str = ''
    dimension: int = 0
    vectors: bool = False
    keyframes: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PortableMemory:
    """A memory with all that belongs to it.

    :param memory: the names of its keyframes are those in the store that it comes from
    :param vectors: of its passages, unit length: shape (passages, dimension); None: to be made from the texts
    :param images: its keyframes, JPEG
    """

    memory: Memory
    vectors: NDArray[np.float32] | None = None
    images: tuple[bytes, ...] = ()


Time = Annotated[int, Field(ge=0, le=MAX_NS)]


class _Model(BaseModel):
    # What a later program adds is passed over.
    model_config = ConfigDict(strict=True, extra='ignore', allow_inf_nan=False)


class HeaderRecord(_Model):
    """A header in plain types."""

    format: str
    version: int
    embedder: str = ''
    dimension: Annotated[int, Field(ge=0, le=2**16)] = 0
    vectors: bool = False
    keyframes: bool = False
    count: Annotated[int, Field(ge=0)] | None = None


class PoseRecord(_Model):
    """Metres and radians."""

    x: float
    y: float
    z: float
    yaw: float


class MemoryRecord(_Model):
    """The fields of a Memory in plain types."""

    id: str
    robot: str
    start_ns: Time
    end_ns: Time
    caption: str
    pose: PoseRecord | None = None
    frame_id: str = 'map'
    map_id: str = ''
    travelled: float = 0.0
    scene_text: list[str] = []
    captioner: str = ''
    camera: str = ''
    source: str = 'captioner'
    keyframes: list[str] = []
    merged: Annotated[int, Field(ge=1, le=MAX_NS)] = 1


def header_record(header: Header) -> dict[str, Any]:
    """Return a header in plain types."""
    return {
        'format': FORMAT,
        'version': VERSION,
        'embedder': header.embedder,
        'dimension': header.dimension,
        'vectors': header.vectors,
        'keyframes': header.keyframes,
        'count': header.count,
    }


def header_from_record(record: Mapping[str, Any]) -> Header:
    """Return the header of a record.

    :raises ValueError: it is none, or of a version that this program does not know
    """
    if record.get('format') != FORMAT:
        raise ValueError(f'its format is {record.get("format")!r}, not {FORMAT!r}')
    found = HeaderRecord.model_validate(record)
    if found.version != VERSION:
        raise ValueError(
            f'it has version {found.version} of the format, this program reads {VERSION}; '
            'read it with the program that wrote it, or a newer one'
        )
    return Header(found.embedder, found.dimension, found.vectors, found.keyframes, found.count)


def memory_record(memory: Memory) -> dict[str, Any]:
    """Return a memory in plain types; times are integer nanoseconds."""
    pose = memory.pose
    return {
        'id': memory.id,
        'robot': memory.robot,
        'start_ns': memory.start_ns,
        'end_ns': memory.end_ns,
        'pose': None if pose is None else {'x': pose.x, 'y': pose.y, 'z': pose.z, 'yaw': pose.yaw},
        'frame_id': memory.frame_id,
        'map_id': memory.map_id,
        'travelled': memory.travelled,
        'caption': memory.caption,
        'scene_text': list(memory.scene_text),
        'captioner': memory.captioner,
        'camera': memory.camera,
        'source': memory.source,
        'keyframes': list(memory.keyframes),
        'merged': memory.merged,
    }


def memory_from_record(record: Mapping[str, Any]) -> Memory:
    """Return the memory of a record.

    :raises ValueError: a field is missing or of another kind
    """
    found = MemoryRecord.model_validate(record)
    pose = None if found.pose is None else Pose(found.pose.x, found.pose.y, found.pose.z, found.pose.yaw)
    return Memory(
        id=found.id,
        robot=found.robot,
        start_ns=found.start_ns,
        end_ns=found.end_ns,
        caption=found.caption,
        pose=pose if pose is not None and is_place(pose) else None,
        frame_id=found.frame_id,
        map_id=found.map_id,
        travelled=found.travelled,
        scene_text=tuple(found.scene_text),
        captioner=found.captioner,
        camera=found.camera,
        source=found.source,
        keyframes=tuple(found.keyframes),
        merged=found.merged,
    )


def whole_characters(record: Any) -> Any:
    """Return a value of plain types with the halves of characters, which JSON can hold, replaced by '?'."""
    return json.loads(json.dumps(record, ensure_ascii=False).encode('utf-8', 'replace'))


def unit_vectors(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return vectors of length 1 again, which rounding has changed; shape (passages, dimension).

    :raises ValueError: a number is not finite
    """
    exact = vectors.astype(np.float32)
    if not np.isfinite(exact).all():
        raise ValueError('a vector has numbers that are not finite')
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    return np.asarray(exact / np.where(lengths > 0.0, lengths, 1.0), np.float32)


def reason(error: Exception) -> str:
    """Return why a record could not be read."""
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f'{".".join(map(str, first["loc"]))}: {first["msg"]}'
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return f'it is cut off or damaged ({error})'
    return str(error)
