"""Captions of street views as memories: a haystack of any size, made of real sentences."""

from collections.abc import Iterator
from pathlib import Path

from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Pose
from remembr_ros.memory.record import Memory, memory_id
from remembr_ros.timestamps import NS

VIEWS = 3
"""Street views in one memory: a robot that drives sees as much in 3 s."""

SEGMENT_NS = 3 * NS
SPEED_M_PER_S = 1.0


def read_captions(path: Path) -> list[str]:
    """Return the captions of a street-view graph (GML) in the order of its nodes.

    :raises BagUnreadable: it is missing or no such graph
    """
    import networkx  # type: ignore[import-untyped]

    try:
        graph = networkx.read_gml(path)
    except (OSError, ValueError, networkx.NetworkXError) as error:
        raise BagUnreadable(f'{path} cannot be read as a street-view graph: {error}') from error
    captions = [str(data['caption']).strip() for _, data in graph.nodes(data=True) if data.get('caption')]
    if len(captions) < VIEWS:
        raise BagUnreadable(f'{path} has {len(captions)} captions; a memory is made of {VIEWS}')
    return captions


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
