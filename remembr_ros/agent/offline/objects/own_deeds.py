"""Where the robot itself put things, beside where they were seen: what lies in a box is seen by nobody."""

from dataclasses import replace
from math import dist

from remembr_ros.memory.deeds.object_ids import REACH_M
from remembr_ros.memory.deeds.occurrences import Happened
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.recall import Recall

_AWAY_M = 2.0 * REACH_M  # from where the robot stood when it put a thing down: somebody moved that since


def put_last(recall: Recall, scope: Scope) -> dict[str, Occurrence]:
    """Return of each object that the robot has put somewhere, and not picked since, that deed, by its id."""
    last: dict[str, Occurrence] = {}
    for one in Happened(recall).deeds(replace(scope, after_ns=None, before_ns=None)):
        if not one.failed and any(is_same_kind(one.facts.kind, kind) for kind in ('pick', 'place')):
            last[one.facts.object_id] = one
    put = {name: one for name, one in last.items() if is_same_kind(one.facts.kind, 'place')}
    return {name: one for name, one in put.items() if name and one.facts.receptacle}


def is_there(known: KnownObject, own: Occurrence, carrier: KnownObject | None) -> bool:
    """Tell whether a thing may still be where the robot put it; else it was seen elsewhere since.

    :param carrier: what it was put on or in, which may have been carried since
    """
    stood = [one.position for one in (own.memory.pose, carrier) if one is not None]
    unseen = known.memory.end_ns <= own.end_ns
    return unseen or not stood or any(dist(known.position[:2], at[:2]) <= _AWAY_M for at in stood)
