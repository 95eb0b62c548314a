"""The tools: what another agent may do with the memory, and with the robot."""

import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

import anyio
from mcp.server.mcpserver import Context, Image
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.overview.recalled_day import nothing_of_day, recall_day, scope_of_day
from remembr_ros.errors import InvalidRequest, RemembrError
from remembr_ros.geometry import Point, Pose, StampedPose, check_point
from remembr_ros.memory.model.recall import Hit, Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import format_iso, parse_time
from remembr_ros.web.backend import Ability
from remembr_ros.web.door.access import Right
from remembr_ros.web.drives import Drive
from remembr_ros.web.forgetting import forget
from remembr_ros.web.mcp.told import Answered, ToldRecall, ToldMemory, told_answer, told_memory
from remembr_ros.web.site import Site

LOOK_S = 0.25  # [s] between two looks at what is under way
WIDTH = 1024  # [px] of a picture
MOST_PICTURES = 4  # that one look shows

_P = ParamSpec('_P')
_T = TypeVar('_T')
Tool = Callable[Concatenate['Tools', _P], Awaitable[_T]]

Time = Annotated[
    str, Field(max_length=64, description='ISO 8601 (UTC where it names no zone) or Unix seconds')
]
Place = Annotated[
    list[float], Field(min_length=2, max_length=3, description='x, y and maybe z in metres in the map frame')
]
MemoryId = Annotated[str, Field(min_length=1, max_length=200, description='id of a memory')]
Name = Annotated[str, Field(max_length=200)]


@dataclass(frozen=True, slots=True)
class Grant:
    """What a tool takes, and what it does to the memory and the robot.

    :param ability: what the memory and its robot have to be able to do for it; None: nothing but be looked at
    :param changes: it is not just reading
    :param destroys: what it deletes does not come back
    """

    right: Right
    ability: Ability | None = None
    changes: bool = False
    destroys: bool = False


GRANTS = {
    'recall': Grant(Right.LOOK),
    'look': Grant(Right.LOOK),
    'day': Grant(Right.LOOK),
    'info': Grant(Right.LOOK),
    'ask': Grant(Right.ASK, Ability.ASK),
    'remember': Grant(Right.ACT, Ability.NOTE, changes=True),
    'forget': Grant(Right.ACT, Ability.FORGET, changes=True, destroys=True),
    'go_to': Grant(Right.ACT, Ability.DRIVE, changes=True),
}
"""By the name of the tool."""


def _told(tool: 'Tool[_P, _T]') -> 'Tool[_P, _T]':
    """Turn what goes wrong for a reason into an error of the tool, which the agent reads."""

    @functools.wraps(tool)
    async def told(self: 'Tools', *args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return await tool(self, *args, **kwargs)
        except RemembrError as error:
            raise ToolError(neutral(str(error))) from error

    return told


class Tools:
    """The tools over one site; the docstring of each is what an agent is told of it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._backend = site.backend

    @_told
    async def recall(  # noqa: PLR0917  an agent names them
        self,
        text: Annotated[
            str | None, Field(max_length=10_000, description='what to look for, in words')
        ] = None,
        near: Place | None = None,
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
        limit: Annotated[int, Field(ge=1, le=50)] = 10,
    ) -> ToldRecall:
        """Find memories: by text, else nearest to a place, else nearest to a time, else the newest. radius
        with near, after, before, robot, map_id and source narrow down."""
        place = _point(near)
        if radius is not None and place is None:
            raise InvalidRequest('radius needs near, the place around which')
        if text is not None and not text.strip():
            raise InvalidRequest('the text is empty; leave it out for the newest memories')
        scope = Scope(
            after_ns=None if after is None else parse_time(after),
            before_ns=None if before is None else parse_time(before),
            near=place if radius is not None else None,
            radius_m=radius,
            robots=(robot,) if robot else (),
            map_id=map_id,
            source=source,
        )
        at_ns = None if time is None else parse_time(time)
        if around and (at_ns is None or text is not None):
            raise InvalidRequest('around goes with time, and not with text')
        by_place = place is not None and text is None and not around
        query = Query(
            text,
            place=place if by_place else None,
            time_ns=None if text is not None or by_place else at_ns,
            around=around,
            scope=scope,
            limit=limit,
        )

        def work() -> ToldRecall:
            hits = self._backend.recall.find(query)
            told = [told_memory(hit.measured(place, at_ns), scored=text is not None) for hit in hits]
            return {'memories': told, 'total': self._backend.recall.count(scope)}

        return await anyio.to_thread.run_sync(work)

    @_told
    async def look(self, id: MemoryId) -> list[Any]:  # noqa: A002  as every result names it
        """Show a memory: its pictures, at most 1024 pixels wide, after what is known of it."""

        def work() -> list[Any]:
            memory = self._known(id)
            shown: list[Any] = []
            for name in memory.keyframes[:MOST_PICTURES]:
                try:
                    shown.append(Image(data=self._site.pictures.keyframe(name, WIDTH), format='jpeg'))
                except InvalidRequest as error:
                    shown.append(f'a picture is missing: {neutral(str(error))}')
            return [_as_text(told_memory(Hit(memory, 1.0))), *(shown or ['it has no pictures'])]

        return await anyio.to_thread.run_sync(work)

    @_told
    async def day(
        self,
        when: Annotated[
            str, Field(max_length=200, description="'2026-11-23', 'yesterday afternoon', ...")
        ] = 'today',
        robot: Name = '',
    ) -> str:
        """Tell what the robot did and saw in a time: its stays and drives, what was seen and read."""

        def work() -> str:
            zone, recall = self._site.zone, self._backend.recall
            scope = scope_of_day(when, self._backend.now_ns(), zone, (robot,) if robot else ())
            found = recall_day(recall, scope, zone)
            if not found.diary.days:
                return nothing_of_day(recall, scope, zone)
            return '\n'.join(map(neutral, found.lines(zone).splitlines()))

        return await anyio.to_thread.run_sync(work)

    @_told
    async def info(self) -> dict[str, Any]:
        """Tell what the memory holds: how much, since when, of which robots, on which maps."""

        def work() -> dict[str, Any]:
            survey = self._backend.recall.survey()
            robots = self._backend.situation().robots
            return {
                'name': neutral(self._backend.name),
                'memories': survey.memories,
                'first': None if survey.first_ns is None else format_iso(survey.first_ns),
                'last': None if survey.last_ns is None else format_iso(survey.last_ns),
                'now': format_iso(self._backend.now_ns()),
                'maps': [
                    {
                        'map_id': neutral(a.map_id),
                        'memories': a.memories,
                        'low': list(a.low),
                        'high': list(a.high),
                    }
                    for a in survey.areas
                ],
                'robots': [
                    {'name': neutral(r.name), 'position': list(r.pose.pose.position), 'yaw': r.pose.pose.yaw}
                    for r in robots
                ],
                'planner': self._backend.planner,
                'embedder': self._backend.recall.embedder_name,
                'abilities': sorted(ability.value for ability in self._backend.abilities),
            }

        return await anyio.to_thread.run_sync(work)

    @_told
    async def ask(
        self,
        question: Annotated[str, Field(min_length=1, max_length=10_000)],
        ctx: Context,
        conversation: Annotated[Name, Field(description='any name: follow-up questions refer to it')] = '',
    ) -> Answered:
        """Ask the robot's memory a question; the answer rests on the memories it cites, or says not seen."""
        exchanges = self._site.exchanges
        under = f'mcp {conversation}' if conversation else ''
        exchange = exchanges.begin(question, asker=who(ctx), conversation=under)
        told, tellings = '', 0
        try:
            while not exchange.is_over:
                await anyio.sleep(LOOK_S)
                exchange = exchanges.get(exchange.id) or exchange
                if (doing := f'{exchange.stage}: {exchange.detail}') != told and not exchange.is_over:
                    told, tellings = doing, tellings + 1
                    await ctx.report_progress(tellings, message=neutral(doing))
        finally:
            if not exchange.is_over:  # whoever asked is gone
                exchanges.cancel(exchange.id)
        if exchange.answer is None:
            raise InvalidRequest(exchange.error or 'there is no answer')
        return told_answer(exchange.answer)

    @_told
    async def remember(
        self,
        text: Annotated[str, Field(min_length=1, max_length=10_000)],
        place: Place | None = None,
        yaw: Annotated[float, Field(allow_inf_nan=False, description='radians, counter-clockwise')] = 0.0,
        map_id: Name = '',
    ) -> dict[str, str]:
        """Store a note of now, at a place if one is given, and return its id."""
        point = _point(place)
        pose = None if point is None else Pose(*point, yaw)
        note = functools.partial(self._backend.note, text, pose, frame_id='map', map_id=map_id)
        return {'id': await anyio.to_thread.run_sync(note)}

    @_told
    async def forget(
        self,
        ids: Annotated[list[MemoryId], Field(min_length=1, max_length=100)],
        ctx: Context,
        dry_run: Annotated[bool, Field(description='delete nothing, tell what would go')] = False,
    ) -> dict[str, Any]:
        """Delete memories with their pictures, for good."""

        def work() -> dict[str, Any]:
            found = self._backend.get(ids)
            unknown = sorted(set(ids) - {memory.id for memory in found})
            count = 0
            if not dry_run and found:
                count = forget(self._site, [memory.id for memory in found], who=who(ctx))
            return {'forgotten': count, 'found': len(found), 'unknown': unknown}

        return await anyio.to_thread.run_sync(work)

    @_told
    async def go_to(
        self,
        ctx: Context,
        memory_id: MemoryId | None = None,
        place: Place | None = None,
        yaw: Annotated[float, Field(allow_inf_nan=False)] = 0.0,
        map_id: Name = '',
    ) -> dict[str, Any]:
        """Drive the robot to where a memory was made, or to a place; a person has to confirm first."""
        point = _point(place)
        if (memory_id is None) == (point is None):
            raise InvalidRequest('give a memory_id or a place')
        target: Memory | StampedPose
        if point is not None:
            target = StampedPose(self._backend.now_ns(), Pose(*point, yaw))
        else:
            target = await anyio.to_thread.run_sync(self._known, memory_id)
        drives = self._site.drives
        drive = drives.begin(target, map_id=map_id, asker=who(ctx))
        told, tellings = '', 0
        try:
            while not drive.is_over:
                await anyio.sleep(LOOK_S)
                drive = self._now(drive)
                doing = f'{drive.stage}: {drive.detail}'
                if doing != told and not drive.is_over:
                    told, tellings = doing, tellings + 1  # a progress has to grow
                    await ctx.report_progress(tellings, message=neutral(doing))
        finally:
            if not drive.is_over:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(functools.partial(drives.stop, asker=who(ctx)))
        if drive.stage != 'arrived':
            raise InvalidRequest(f'{drive.stage}: {drive.detail}')
        goal = drive.goal
        return {'stage': drive.stage, 'position': list(goal.pose.position) if goal else None}

    def _now(self, drive: Drive) -> Drive:
        current = self._site.drives.current
        return current if current is not None and current.id == drive.id else drive

    def _known(self, memory_id: str) -> Memory:
        found = self._backend.get([memory_id])
        if not found:
            raise InvalidRequest(
                f'there is no memory {memory_id!r}; it may have been forgotten: recall again'
            )
        return found[0]


def who(ctx: Context) -> str:
    """Return who calls, for logs and the page."""
    request = ctx.request_context.request
    state = request.scope.get('state', {}) if request is not None else {}
    return f'mcp, {state["who"]}' if 'who' in state else 'mcp'


def _point(place: list[float] | None) -> Point | None:
    if place is None:
        return None
    x, y, *height = place
    return check_point((x, y, height[0] if height else 0.0))


def _as_text(told: ToldMemory) -> str:
    """Return a memory on one line beside its pictures."""
    at = 'place unknown'
    if told['position'] is not None:
        at = 'at ({:.2f}, {:.2f}, {:.2f})'.format(*told['position'])
    texts = ' '.join(told['texts'])
    read = f', text {texts}' if texts else ''
    by = f'robot {quoted(told["robot"])}, {told["source"]}'
    return f'{told["id"]}: {told["start"]} to {told["end"]}, {at}, {by}, caption {told["caption"]}{read}'
