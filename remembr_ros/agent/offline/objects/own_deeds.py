"""Where the robot itself put things, beside where they were seen: what lies in a box is seen by nobody."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import dist

from remembr_ros.memory.deeds.object_ids import REACH_M
from remembr_ros.memory.deeds.occurrences import Happened
from remembr_ros.memory.deeds.query import Occurrence
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import AGENT
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.recall import Recall

_AWAY_M = 2.0 * REACH_M  # from where the robot stood when it put a thing down: somebody moved that since


def put_last(recall: Recall, scope: Scope) -> list[Occurrence]:
    """Return of each thing that the robot has put somewhere, and not picked since, that deed."""
    scope = replace(scope, after_ns=None, before_ns=None)
    last: dict[str, Occurrence] = {}
    for one in Happened(recall).deeds(scope) if recall.count(replace(scope, source=AGENT)) else ():
        if not one.failed and any(is_same_kind(one.facts.kind, kind) for kind in ('pick', 'place')):
            last[one.facts.object_id or one.facts.object.casefold()] = one
    return [one for one in last.values() if is_same_kind(one.facts.kind, 'place') and one.facts.receptacle]


def put_where(
    known: KnownObject, put: Sequence[Occurrence], others: Mapping[str, KnownObject]
) -> Occurrence | None:
    """Return the deed by which the robot put a thing where it is; None: it did not, or it was moved since.

    :param put: of each thing the last one
    :param others: all that is known, by id: what a thing was put into may have been carried since
    """
    one = next((one for one in put if one.facts.object_id == known.id), None)
    if one is None or one.memory.pose is None or known.memory.end_ns <= one.end_ns:
        return one
    carrier = others.get(one.facts.receptacle_id)
    stood = [one.memory.pose.position, *([carrier.position] if carrier else [])]
    return one if any(dist(known.position[:2], at[:2]) <= _AWAY_M for at in stood) else None
