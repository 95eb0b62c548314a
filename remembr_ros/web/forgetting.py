"""Memories that go for good, whoever wants it."""

import logging
from collections.abc import Sequence

from remembr_ros.web.site import Site

logger = logging.getLogger(__name__)


def forget(site: Site, ids: Sequence[str], *, who: str) -> int:
    """Delete memories with their pictures, thumbnails and the answers that rest on them; return how many.

    :param who: wants that, for the log
    :raises InvalidRequest: nothing may be forgotten here
    :raises StoreUnavailable: the memory is out of reach
    """
    names = {name for memory in site.backend.get(ids) for name in memory.keyframes}
    # Before: it may be done where nobody hears so.
    logger.warning('%s wants %d memories forgotten: %s', who, len(ids), ', '.join(ids))
    try:
        count = site.backend.forget(ids)
    finally:
        site.pictures.drop(names)
    site.exchanges.forget(ids)
    logger.warning('%d of them are forgotten', count)
    return count
