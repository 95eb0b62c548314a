"""The tools: what another agent may do with the memory, and with the robot."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from remembr_ros.agent.model.quoting import neutral
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, StampedPose, wrap_angle
from remembr_ros.memory.deeds.deed import Outcome, told_deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.web.backend import Ability
from remembr_ros.web.door.access import Right
from remembr_ros.web.jobs import AnyJob, Jobs
from remembr_ros.web.mcp.reading_tools import MemoryId, Name, Place, ReadingTools, Time, place_of, told_errors
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
    'objects': Grant(Right.LOOK),
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

    async def ask(
        self,
        question: Annotated[str, Field(min_length=1, max_length=10_000)],
        ctx: Context,
        conversation: Annotated[Name, Field(description='any name: follow-up questions refer to it')] = '',
    ) -> Annotated[CallToolResult, Answered]:
        """Ask the robot's memory a question; the answer rests on the memories it cites, or says not seen."""
        exchanges = self._site.exchanges
        with told_errors():
            exchange = exchanges.begin(
                question, asker=caller(ctx), conversation=f'mcp {conversation}' if conversation else ''
            )
            exchange = await _until_over(ctx, exchanges, exchange, lambda: exchanges.cancel(exchange.id))
            if exchange.answer is None:
                raise InvalidRequest(exchange.error or 'there is no answer')
            return result(answer_text(exchange.answer), told_answer(exchange.answer, question))

    @told_errors()
    def remember(  # noqa: PLR0917  an agent names them
        self,
        ctx: Context,
        text: Annotated[str, Field(max_length=10_000, description='may be left out with kind')] = '',
        place: Place | None = None,
        yaw: Annotated[float, Field(allow_inf_nan=False, description='radians, counter-clockwise')] = 0.0,
        map_id: Name = '',
        kind: Annotated[Name, Field(description='go, pick, place, open, close, or other words')] = '',
        object: Annotated[Name, Field(description='what it was done to: a name or an id')] = '',  # noqa: A002
        receptacle: Annotated[Name, Field(description='what that was taken from or put on: the same')] = '',
        where: Annotated[Name, Field(description='name of the place, such as of a room')] = '',
        begin: Time = '',
        end: Time = '',
        outcome: Outcome = 'unknown',
        reason: Annotated[str, Field(max_length=5000, description='why it ended so')] = '',
    ) -> dict[str, str]:
        """Store a note of now, at a place if one is given, and return its id. With kind, object, receptacle,
        where, begin, end, outcome or reason it is no note but a deed: what the robot did itself."""
        point = place_of(place)
        pose = None if point is None else Pose(*point, wrap_angle(yaw))
        about: dict[str, Any] = {
            'kind': kind,
            'object': object,
            'receptacle': receptacle,
            'place': where,
            'reason': reason,
        }
        if outcome != 'unknown' or any((begin, end, *about.values())):
            about |= {'text': text, 'begin': begin, 'end': end, 'outcome': outcome}
            memory_id = self._backend.tell(told_deed(**about, pose=pose, map_id=map_id))
        else:
            memory_id = self._backend.note(text, pose, map_id=map_id)
        logger.warning('%s noted memory %s', caller(ctx), memory_id)
        return {'id': memory_id}

    @told_errors()
    def forget(
        self,
        ids: Annotated[list[MemoryId], Field(min_length=1, max_length=100)],
        ctx: Context,
        dry_run: Annotated[bool, Field(description='delete nothing, tell what would go')] = False,
    ) -> dict[str, Any]:
        """Delete memories, their pictures and the answers that rest on them, for good."""
        found = [memory.id for memory in self._backend.get(ids)]
        count = 0
        if found and dry_run:
            count = self._backend.forget(found, dry_run=True)
        elif found:
            count = forget(self._site, found, asker=caller(ctx))
        forgotten = 0 if dry_run else count
        return {'forgotten': forgotten, 'found': count, 'unknown': sorted(set(ids) - set(found))}

    async def go_to(
        self,
        ctx: Context,
        memory_id: MemoryId | None = None,
        place: Place | None = None,
        yaw: Annotated[float, Field(allow_inf_nan=False)] = 0.0,
        map_id: Name = '',
    ) -> dict[str, Any]:
        """Drive the robot to where a memory was made, or to a place; a person has to confirm first."""
        drives = self._site.drives
        with told_errors():
            target = await anyio.to_thread.run_sync(self._target, memory_id, place, yaw)
            drive = drives.begin(target, map_id=map_id, asker=caller(ctx))
            drive = await _until_over(ctx, drives, drive, lambda: drives.give_up(drive.id, asker=caller(ctx)))
            if drive.stage not in ('arrived', 'sent'):
                raise InvalidRequest(f'{drive.stage}: {drive.detail}')
        goal = drive.goal
        return {'stage': drive.stage, 'position': rounded(goal.pose.position) if goal else None}

    def _target(self, memory_id: str | None, place: list[float] | None, yaw: float) -> Memory | StampedPose:
        point = place_of(place)
        if (memory_id is None) == (point is None):
            raise InvalidRequest('give a memory_id or a place')
        if point is None:
            return self.known(memory_id or '')
        return StampedPose(self._backend.now_ns(), Pose(*point, wrap_angle(yaw)))


async def _until_over(ctx: Context, jobs: Jobs[AnyJob], last: AnyJob, cancel: Callable[[], object]) -> AnyJob:
    """Tell the caller how a job goes on until it is over, or the caller gone; return how it ended."""
    reported, tellings = '', 0
    try:
        while not last.is_over:
            await anyio.sleep(LOOK_S)
            last = jobs.get(last.id) or last
            if (doing := f'{last.stage}: {last.detail}') != reported and not last.is_over:
                reported, tellings = doing, tellings + 1  # a progress has to grow
                await ctx.report_progress(tellings, message=neutral(doing))
    finally:
        if not last.is_over:
            cancel()
    return last


def caller(ctx: Context) -> str:
    """Return who calls, for logs and the page."""
    request = ctx.request_context.request
    state = request.scope.get('state', {}) if request is not None else {}
    return f'mcp, {state["who"]}' if 'who' in state else 'mcp'
