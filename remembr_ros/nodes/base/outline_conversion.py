"""Between the outline of all memories and the pages that the service of that name tells it in."""

from collections.abc import Sequence

import numpy as np

from remembr_msgs.srv import Outline as OutlineSrv
from remembr_ros.memory.model.outline import MAX_ID, Outline, make_outline
from remembr_ros.nodes.base.conversions import MAX_WIRE_NS

PAGE = 20_000  # memories; two megabytes


def fill_page(outline: Outline, request: OutlineSrv.Request, response: OutlineSrv.Response) -> None:
    """Fill the page that a request asks for into a response, but for times that no message could hold."""
    begin = 0
    if request.after_id or request.after_ns:
        # Where it would stand: it may be gone.
        begin = int(np.searchsorted(outline.start_ns, request.after_ns, 'left'))
        same = int(np.searchsorted(outline.start_ns, request.after_ns, 'right'))
        begin += int(np.searchsorted(outline.ids[begin:same], request.after_id.encode(), 'right'))
    told = np.flatnonzero(outline.end_ns[begin:] <= MAX_WIRE_NS) + begin
    page = told[: min(request.limit or PAGE, PAGE)]
    response.total = int(np.count_nonzero(outline.end_ns <= MAX_WIRE_NS))
    response.names = list(outline.names)
    response.ids = [memory_id.decode() for memory_id in outline.ids[page].tolist()]
    response.start, response.end = outline.start_ns[page].tolist(), outline.end_ns[page].tolist()
    for name in ('x', 'y', 'z', 'robot', 'map_id', 'source'):
        setattr(response, name, getattr(outline, name)[page].tolist())


def outline_from_pages(pages: Sequence[OutlineSrv.Response]) -> Outline:
    """Return the outline that these pages, in their order, tell."""
    texts = list(dict.fromkeys(text for page in pages for text in page.names))
    number = {text: i for i, text in enumerate(texts)}
    renumber = [np.array([number[text] for text in page.names], np.int64) for page in pages]

    def column(name: str, kind: type) -> 'np.ndarray[tuple[int], np.dtype[np.generic]]':
        return np.concatenate([np.asarray(getattr(page, name), kind) for page in pages])

    names = [
        np.concatenate(
            [to[np.asarray(getattr(page, name), np.int64)] for to, page in zip(renumber, pages, strict=True)]
        )
        for name in ('robot', 'map_id', 'source')
    ]
    ids = np.array([memory_id.encode() for page in pages for memory_id in page.ids], f'S{MAX_ID}')
    points = np.stack([column(axis, np.float64) for axis in 'xyz'], axis=1)
    # One and the same table of names: the columns need no other.
    return make_outline(
        ids,
        column('start', np.int64),
        column('end', np.int64),
        points,
        [(names[0], texts), (names[1], texts), (names[2], texts)],
    )
