"""The tools that look: what another agent may find in the memory."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from mcp.server.mcpserver import Image
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.overview.recalled_day import nothing_of_day, recall_day, scope_of_day
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.geometry import Point, check_point
from remembr_ros.memory.model.recall import Hit, Scope, query_by
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.objects.relations import RelationName
from remembr_ros.timestamps import format_iso, parse_time
from remembr_ros.web.mcp.told import (
    LINE_CAPTION,
    LISTED_CAPTION,
    ToldRecall,
    memory_text,
    result,
    rounded,
    told_memory,
    told_object,
    told_pose,
)
from remembr_ros.web.pictures import Width
from remembr_ros.web.site import Site

MOST_PICTURES = 4  # that one look shows
OBJECT_LINE = '{id}: {name} at {position}, seen last {last_seen}, {presence}, {relations}'

Time = Annotated[
    str, Field(max_length=64, description='ISO 8601 (UTC where it names no zone) or Unix seconds')
]
Place = Annotated[
    list[float], Field(min_length=2, max_length=3, description='x, y and maybe z in metres in the map frame')
]
MemoryId = Annotated[str, Field(min_length=1, max_length=200, description='id of a memory')]
Name = Annotated[str, Field(max_length=200)]


@contextmanager
def told_errors() -> Iterator[None]:
    """Turn what goes wrong for a reason into an error of the tool, which the agent reads."""
    try:
        yield
    except RemembrError as error:
        raise ToolError(neutral(str(error))) from error


class ReadingTools:
    """What may be looked at, of one site; the docstring of each tool is what an agent is told of it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._backend = site.backend

    @told_errors()
    def recall(  # noqa: PLR0917  an agent names them
        self,
        text: Annotated[
            str | None, Field(max_length=10_000, description='what to look for, in words')
        ] = None,
        place: Place | None = None,
        radius: Annotated[float | None, Field(ge=0, le=1e7, allow_inf_nan=False)] = None,
        time: Time | None = None,
        around: Annotated[
            bool, Field(description='with time: what was before, at and after it, in order')
        ] = False,
        after: Time | None = None,
        before: Time | None = None,
        robot: Name | None = None,
        map_id: Name | None = None,
        source: Annotated[str | None, Field(description='captioner, person, object or agent')] = None,
        room: Annotated[Name | None, Field(description='or another place by its name')] = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Annotated[CallToolResult, ToldRecall]:
        """Find memories: by text, else nearest to a place, else nearest to a time, else the newest. radius
        with place, after, before, robot, map_id, source and room narrow down."""
        point = place_of(place)
        if radius is not None and point is None:
            raise InvalidRequest('a radius needs a place, around which it is')
        if text is not None and not text.strip():
            raise InvalidRequest('the text is empty; leave it out for the newest memories')
        scope = Scope(
            after_ns=None if after is None else parse_time(after),
            before_ns=None if before is None else parse_time(before),
            near=point if radius is not None else None,
            radius_m=radius,
            robots=(robot,) if robot else (),
            map_id=map_id,
            source=source,
            place=room,
        )
        at_ns = None if time is None else parse_time(time)
        query = query_by(text, point, at_ns, around=around, scope=scope, limit=limit)
        recall = self._backend.recall
        hits = [hit.measured(point, at_ns) for hit in recall.find(query)]
        shown = functools.partial(told_memory, asked=text, embedder=recall.embedder_name)
        form: ToldRecall = {
            'memories': [shown(hit, most=LISTED_CAPTION) for hit in hits],
            'total': recall.count(scope),
        }
        lines = [memory_text(shown(hit, most=LINE_CAPTION)) for hit in hits]
        return result('\n'.join(lines) or 'nothing was found', form)

    @told_errors()
    def objects(  # noqa: PLR0917  an agent names them
        self,
        called: Annotated[Name, Field(description="'cup', 'red cups', or an id")] = '',
        text: Annotated[Name, Field(description='what fits it best, whatever its name')] = '',
        relation: RelationName | None = None,
        anchor: Annotated[Name, Field(description='with relation: what that is called')] = '',
        missing: bool | None = None,
        moved: bool | None = None,
        changed_since: Time | None = None,
        place: Place | None = None,
        after: Time | None = None,
        before: Time | None = None,
        robot: Name | None = None,
        map_id: Name | None = None,
        room: Annotated[Name | None, Field(description='or another place by its name')] = None,
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> Annotated[CallToolResult, dict[str, Any]]:
        """Find things, where they are and whether they still are: by name, by text, by what they are on, in,
        under or next to (relation, anchor), what is missing, moved, or changed since a time, seen after and
        before; the best first, else the nearest to a place, else the one seen last."""
        times = (after, before, changed_since)
        since, until, changed = (None if time is None else parse_time(time) for time in times)
        scope = Scope(since, until, robots=(robot,) if robot else (), map_id=map_id, place=room)
        near, text = place_of(place), text.strip()
        asked = ObjectQuery(
            called, text, relation or '', anchor, missing, moved, changed, near, None, scope, limit
        )
        found = self._backend.recall.find_objects(asked)
        forms = [told_object(thing) for thing in found.objects]
        lines = [OBJECT_LINE.format(**form) for form in forms]
        return result('\n'.join(lines) or 'no such object is known', {'objects': forms, 'total': found.total})

    @told_errors()
    def look(self, id: MemoryId) -> list[Any]:  # noqa: A002  as every result names it
        """Show a memory: its pictures, at most 1024 pixels wide, after what is known of it."""
        memory = self.known(id)
        shown: list[Any] = []
        for name in memory.keyframes[:MOST_PICTURES]:
            try:
                shown.append(Image(data=self._site.pictures.keyframe(name, Width.LARGE), format='jpeg'))
            except InvalidRequest as error:
                shown.append(f'a picture is missing: {neutral(str(error))}')
        return [memory_text(told_memory(Hit(memory, 1.0))), *(shown or ['it has no pictures'])]

    @told_errors()
    def day(
        self,
        when: Annotated[
            str, Field(max_length=200, description="'2026-11-23', 'yesterday afternoon', ...")
        ] = 'today',
        robot: Name = '',
        room: Annotated[Name, Field(description='or another place by its name')] = '',
    ) -> str:
        """Tell what the robot did and saw in a time: its stays and drives, what was seen and read."""
        zone, recall = self._site.zone, self._backend.recall
        scope = scope_of_day(when, self._backend.now_ns(), zone, (robot,) if robot else (), place=room)
        found = recall_day(recall, scope, zone)
        if not found.diary.days:
            return nothing_of_day(recall, scope, zone)
        return '\n'.join(map(neutral, found.lines(zone).splitlines()))

    @told_errors()
    def info(self) -> Annotated[CallToolResult, dict[str, Any]]:
        """Tell what the memory holds: how much, since when, of which robots, on which maps."""
        survey = self._backend.recall.survey()
        form = {
            'name': neutral(self._backend.name),
            'memories': survey.memories,
            'first': None if survey.first_ns is None else format_iso(survey.first_ns),
            'last': None if survey.last_ns is None else format_iso(survey.last_ns),
            'now': format_iso(self._backend.now_ns()),
            'maps': [
                {
                    'map_id': neutral(a.map_id),
                    'memories': a.memories,
                    'low': rounded(a.low),
                    'high': rounded(a.high),
                }
                for a in survey.areas
            ],
            'robots': [
                {'name': neutral(robot.name), **told_pose(robot.pose.pose)}
                for robot in self._backend.situation().robots
            ],
            'planner': self._backend.planner,
            'embedder': self._backend.recall.embedder_name,
            'abilities': sorted(ability.value for ability in self._backend.abilities),
        }
        maps = ', '.join(quoted(area.map_id) for area in survey.areas)
        line = f'{form["name"]}: {survey.memories} memories, {form["first"]} to {form["last"]}'
        return result(f'{line}, of maps {maps or "unknown"}; it is {form["now"]}', form)

    def known(self, memory_id: str) -> Memory:
        """Return a memory.

        :raises InvalidRequest: there is none of that id
        """
        found = self._backend.get([memory_id])
        if not found:
            raise InvalidRequest(
                f'there is no memory {memory_id!r}; it may have been forgotten: recall again'
            )
        return found[0]


def place_of(place: list[float] | None) -> Point | None:
    """Return a place that is given by two or three numbers [m].

    :raises InvalidRequest: it is out of bounds
    """
    if place is None:
        return None
    x, y, *height = place
    return check_point((x, y, height[0] if height else 0.0))
