"""What is remembered right before and after a time of which nothing is."""

from dataclasses import replace

from remembr_ros.memory.model.recall import Hit, Query, Recall, Scope


def nearest_in_time(recall: Recall, empty: Scope) -> list[Hit]:
    """Return the last memory before a time of which nothing is remembered, and the first one after it.

    :param empty: admits no memory; its other conditions hold for what is returned
    :raises StoreUnavailable: there is no memory to ask
    """
    anytime = replace(empty, after_ns=None, before_ns=None)
    found: list[Hit] = []
    for edge_ns, side in (
        (empty.after_ns, anytime.within(None, empty.after_ns)),
        (empty.before_ns, anytime.within(empty.before_ns, None)),
    ):
        if edge_ns is not None and side is not None:
            found += recall.find(Query(time_ns=edge_ns, scope=side, limit=1))
    return found
