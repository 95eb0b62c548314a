"""Captions of street views as memories: a drive along them, and a haystack of any size of real sentences."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, memory_id
from remembr_ros.timestamps import NS, parse_time

VIEWS = 3  # street views in one memory: a robot that drives sees as much in 3 s
MAX_BYTES = 2**25  # of a graph; while it is read it takes thirty times as much memory
SEGMENT_NS = 3 * NS
SPEED_M_PER_S = 1.0


def read_captions(path: Path) -> list[str]:
    """Return the captions of a street-view graph (GML) in the order of its nodes.

    :raises BagUnreadable: it is missing or no such graph
    """
    captions = [str(data['caption']).strip() for data in _nodes(path)]
    if len(captions) < VIEWS:
        raise BagUnreadable(f'{path} has {len(captions)} captions; a memory is made of {VIEWS}')
    return captions


def read_views(path: Path) -> list[Memory]:
    """Return the views of a street-view graph as memories of one drive, in the order of its nodes.

    A view is placed in metres east (x) and north (y) of the first one. It is timed by the month of its
    picture, 3 s after the one before: more is not known. Without a month it is of 1970.

    :raises BagUnreadable: it is missing or no such graph
    """
    import pymap3d  # type: ignore[import-untyped]

    memories: list[Memory] = []
    origin: tuple[float, float] | None = None
    try:
        for number, data in enumerate(_nodes(path)):
            pose = None
            if 'position' in data:
                longitude, latitude = float(data['position']['x']), float(data['position']['y'])
                if not (abs(latitude) <= 90.0 and abs(longitude) <= 180.0):
                    raise BagUnreadable(f'{path}: {latitude}, {longitude} is no latitude and longitude')
                origin = origin or (latitude, longitude)
                east, north, _ = pymap3d.geodetic2enu(latitude, longitude, 0.0, *origin, 0.0)
                pose = Pose(float(east), float(north))
            start_ns = parse_time(str(data.get('timestamp') or 0)) + number * SEGMENT_NS
            memories.append(
                Memory(
                    id=memory_id(f'streetview/{path.stem}', 'captioner', start_ns),
                    robot='streetview',
                    start_ns=start_ns,
                    end_ns=start_ns + SEGMENT_NS - 1,
                    caption=str(data['caption']).strip(),
                    pose=pose,
                    map_id=path.stem,
                    captioner='streetview',
                )
            )
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, InvalidRequest) as error:
        raise BagUnreadable(f'{path} is not a graph of street views: {error!r}') from error
    return memories


def _nodes(path: Path) -> list[dict[str, Any]]:
    """Return the nodes that have a caption."""
    try:
        import networkx  # type: ignore[import-untyped]
    except ImportError as error:
        raise BagUnreadable(
            f'reading {path} takes networkx; install it with: pip install "remembr_ros[evaluation]"'
        ) from error
    try:
        with path.open('rb') as file:
            if len(data := file.read(MAX_BYTES + 1)) > MAX_BYTES:
                raise BagUnreadable(f'{path} has more than {MAX_BYTES} bytes; read it in parts')
        # As the format has it; other characters are escaped.
        graph = networkx.parse_gml(data.decode('ascii').split('\n'))
    # AttributeError: a node that is a number.
    except (OSError, AttributeError, ValueError, RecursionError, networkx.NetworkXError) as error:
        raise BagUnreadable(f'{path} cannot be read as a street-view graph: {error}') from error
    return [data for _, data in graph.nodes(data=True) if data.get('caption')]


def distractors(captions: list[str], count: int, start_ns: int, map_id: str) -> Iterator[Memory]:
    """Yield memories of a drive that never happened, no two of them alike.

    A memory consists of a view and two others, further along from round to round.

    :param start_ns: of the first; each lasts 3 s
    """
    total = len(captions)
    for number in range(count):
        first, turn = number % total, number // total
        views = [captions[(first + step * (turn + 1)) % total] for step in range(VIEWS)]
        begins = start_ns + number * SEGMENT_NS
        yield Memory(
            id=memory_id('haystack', 'captioner', begins),
            robot='haystack',
            start_ns=begins,
            end_ns=begins + SEGMENT_NS - 1,
            caption='\n\n'.join(views),
            pose=Pose(number * SPEED_M_PER_S * SEGMENT_NS / NS, 0.0),
            map_id=map_id,
            captioner='streetview',
        )
