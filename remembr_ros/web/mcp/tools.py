"""The tools: what another agent may do with the memory, and with the robot."""

import functools
import logging
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from remembr_ros.agent.model.quoting import neutral
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, StampedPose, wrap_angle
from remembr_ros.memory.model.record import Memory
from remembr_ros.web.backend import Ability
from remembr_ros.web.door.access import Right
from remembr_ros.web.drives import Drive
from remembr_ros.web.mcp.reading_tools import MemoryId, Name, Place, ReadingTools, place_of, told_errors
from remembr_ros.web.mcp.told import Answered, answer_text, result, rounded, told_answer
from remembr_ros.web.site import forget

logger = logging.getLogger(__name__)

LOOK_S = 0.25  # [s] between two looks at what is under way


@dataclass(frozen=True, slots=True)
class Grant:
    """What a tool takes, and what it does to the memory and the robot.

    :param ability: what the memory and its robot have to be able to do for it; None: nothing but be looked at
    :param changes: it is not just reading
    :param destroys: what it deletes does not come back
    :param plain: it tells text and pictures, and no structure
    """

    right: Right
    ability: Ability | None = None
    changes: bool = False
    destroys: bool = False
    plain: bool = False


GRANTS = {
    'recall': Grant(Right.LOOK),
    'look': Grant(Right.LOOK, plain=True),
    'day': Grant(Right.LOOK, plain=True),
    'info': Grant(Right.LOOK),
    'ask': Grant(Right.ASK, Ability.ASK),
    'remember': Grant(Right.ACT, Ability.NOTE, changes=True),
    'forget': Grant(Right.ACT, Ability.FORGET, changes=True, destroys=True),
    'go_to': Grant(Right.ACT, Ability.DRIVE, changes=True),
}
"""By the name of the tool."""


class Tools(ReadingTools):
    """All tools over one site."""

    @told_errors
    async def ask(
        self,
        question: Annotated[str, Field(min_length=1, max_length=10_000)],
        ctx: Context,
        conversation: Annotated[Name, Field(description='any name: follow-up questions refer to it')] = '',
    ) -> Annotated[CallToolResult, Answered]:
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
        answer = exchange.answer
        return result(answer_text(answer), told_answer(answer, question))

    @told_errors
    async def remember(
        self,
        text: Annotated[str, Field(min_length=1, max_length=10_000)],
        ctx: Context,
        place: Place | None = None,
        yaw: Annotated[float, Field(allow_inf_nan=False, description='radians, counter-clockwise')] = 0.0,
        map_id: Name = '',
    ) -> dict[str, str]:
        """Store a note of now, at a place if one is given, and return its id."""
        point = place_of(place)
        pose = None if point is None else Pose(*point, wrap_angle(yaw))
        note = functools.partial(self._backend.note, text, pose, frame_id='map', map_id=map_id)
        memory_id = await anyio.to_thread.run_sync(note)
        logger.warning('%s noted memory %s', who(ctx), memory_id)
        return {'id': memory_id}

    @told_errors
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

    @told_errors
    async def go_to(
        self,
        ctx: Context,
        memory_id: MemoryId | None = None,
        place: Place | None = None,
        yaw: Annotated[float, Field(allow_inf_nan=False)] = 0.0,
        map_id: Name = '',
    ) -> dict[str, Any]:
        """Drive the robot to where a memory was made, or to a place; a person has to confirm first."""
        point = place_of(place)
        if (memory_id is None) == (point is None):
            raise InvalidRequest('give a memory_id or a place')
        target: Memory | StampedPose
        if point is not None:
            target = StampedPose(self._backend.now_ns(), Pose(*point, wrap_angle(yaw)))
        else:
            target = await anyio.to_thread.run_sync(functools.partial(self.known, memory_id or ''))
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
                drives.cancel(drive.id, asker=who(ctx))
        if drive.stage not in ('arrived', 'sent'):
            raise InvalidRequest(f'{drive.stage}: {drive.detail}')
        goal = drive.goal
        return {'stage': drive.stage, 'position': rounded(goal.pose.position) if goal else None}

    def _now(self, drive: Drive) -> Drive:
        current = self._site.drives.current
        return current if current is not None and current.id == drive.id else drive


def who(ctx: Context) -> str:
    """Return who calls, for logs and the page."""
    request = ctx.request_context.request
    state = request.scope.get('state', {}) if request is not None else {}
    return f'mcp, {state["who"]}' if 'who' in state else 'mcp'
