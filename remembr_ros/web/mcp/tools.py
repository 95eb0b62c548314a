"""The tools: what another agent may do with the memory, and with the robot. Each takes a form."""

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, Image
from mcp_types import CallToolResult
from pydantic import create_model

from remembr_ros.agent.model.quoting import neutral, quoted
from remembr_ros.agent.overview.recalled_day import nothing_of_day, recall_day, scope_of_day
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms import results
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.events import EventForm, GoForm, NoteForm
from remembr_ros.forms.fields import word
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.forms.form import Form
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.places import PlacesForm
from remembr_ros.forms.questions import DayForm, TalkForm
from remembr_ros.forms.recall import RecallForm
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import format_iso
from remembr_ros.web.backend import Ability
from remembr_ros.web.door.access import Right
from remembr_ros.web.forms import area_json
from remembr_ros.web.jobs import AnyJob, Jobs
from remembr_ros.web.mcp.told import (
    LINE_CAPTION,
    LISTED_CAPTION,
    answer_text,
    brief,
    memory_text,
    result,
    told_answer,
    told_memory,
    told_object,
)
from remembr_ros.web.pictures import Width
from remembr_ros.web.site import Site, forget

logger = logging.getLogger(__name__)

LOOK_S = 0.25  # [s] between two looks at what is under way
MOST_PICTURES = 4  # that one look shows
_OBJECT = '{id}: {name} at {position}, seen last {last_seen}, {presence}, {relations}'

_Few = Annotated[int, word('so many at most', 10, 'k n', ge=1, le=50)]


def few(form: type[Form]) -> type[Form]:
    """Return a form of which an agent gets few results: each takes room of its context."""
    return create_model(form.__name__, __base__=form, __doc__=form.__doc__, limit=(_Few, 10))


class LookForm(Form):
    """Show a memory: its pictures, at most 1024 pixels wide, after what is known of it."""

    id: Annotated[str, word('of a memory', '8c1f0d', 'memory_id', min_length=1, max_length=200)]


class InfoForm(Form):
    """Tell what the memory holds: how much, since when, of which robots, on which maps."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a tool takes, and what it does to the memory and the robot.

    :param form: of its arguments; its docstring is what an agent is told of the tool
    :param ability: what the memory and its robot have to be able to do for it; None: nothing but be looked at
    :param changes: it is not just reading
    :param destroys: what it deletes does not come back
    :param plain: it tells text and pictures, and no structure
    """

    form: type[Form]
    right: Right
    ability: Ability | None = None
    changes: bool = False
    destroys: bool = False
    plain: bool = False


GRANTS = {
    'recall': Grant(few(RecallForm), Right.LOOK),
    'objects': Grant(few(ObjectsForm), Right.LOOK),
    'deeds': Grant(few(DeedsForm), Right.LOOK),
    'places': Grant(PlacesForm, Right.LOOK),
    'look': Grant(LookForm, Right.LOOK, plain=True),
    'day': Grant(DayForm, Right.LOOK, plain=True),
    'info': Grant(InfoForm, Right.LOOK),
    'ask': Grant(TalkForm, Right.ASK, Ability.ASK),
    'remember': Grant(NoteForm, Right.ACT, Ability.NOTE, changes=True),
    'event': Grant(EventForm, Right.ACT, Ability.NOTE, changes=True),
    'forget': Grant(ForgetForm, Right.ACT, Ability.FORGET, changes=True, destroys=True),
    'go_to': Grant(GoForm, Right.ACT, Ability.DRIVE, changes=True),
}
"""By the name of the tool, which is that of a method."""


class Tools:
    """All tools over one site; each may block, but for those that tell how they go on."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._backend = site.backend

    def recall(self, form: RecallForm, ctx: Context) -> CallToolResult:
        recall = self._backend.recall
        hits, scope = form.find(recall), form.scope()
        shown = functools.partial(told_memory, asked=form.text, embedder=recall.embedder_name)
        lines = [memory_text(shown(hit, most=LINE_CAPTION)) for hit in hits]
        memories = [shown(hit, most=LISTED_CAPTION) for hit in hits]
        structure = {'memories': memories, 'total': recall.count(scope)}
        return result('\n'.join(lines) or 'nothing was found', structure)

    def objects(self, form: ObjectsForm, ctx: Context) -> CallToolResult:
        found = self._backend.recall.find_objects(form.query())
        told = [told_object(thing) for thing in found.objects]
        lines = [_OBJECT.format(**thing) for thing in told]
        structure = {'objects': told, 'total': found.total}
        return result('\n'.join(lines) or 'no such object is known', structure)

    def deeds(self, form: DeedsForm, ctx: Context) -> CallToolResult:
        found = brief({**results.deeds_json(form.find(self._backend.recall))})
        lines = [f'{deed["start"]} to {deed["end"]}: {deed["caption"]}' for deed in found.get('deeds', ())]
        return result('\n'.join(lines) or 'nothing of that kind took place', {'deeds': [], **found})

    def places(self, form: PlacesForm, ctx: Context) -> CallToolResult:
        found = brief({**results.places_json(form.find(self._backend.recall))})
        lines = [f'{quoted(spot["name"])} around {spot["center"]}' for spot in found.get('places', ())]
        return result('\n'.join(lines) or 'no place has a name', {'places': [], **found})

    def look(self, form: LookForm, ctx: Context) -> list[Any]:
        memory = self._known(form.id)
        shown: list[Any] = []
        for name in memory.keyframes[:MOST_PICTURES]:
            try:
                shown.append(Image(data=self._site.pictures.keyframe(name, Width.LARGE), format='jpeg'))
            except InvalidRequest as error:
                shown.append(f'a picture is missing: {neutral(str(error))}')
        return [memory_text(told_memory(Hit(memory, 1.0))), *(shown or ['it has no pictures'])]

    def day(self, form: DayForm, ctx: Context) -> str:
        zone, recall = self._site.zone, self._backend.recall
        scope = scope_of_day(form, self._backend.now_ns(), zone)
        found = recall_day(recall, scope, zone)
        if not found.diary.days:
            return nothing_of_day(recall, scope, zone)
        return '\n'.join(map(neutral, found.lines(zone).splitlines()))

    def info(self, form: InfoForm, ctx: Context) -> CallToolResult:
        survey, robots = self._backend.recall.survey(), self._backend.situation().robots
        poses = [(robot.name, robot.pose.pose) for robot in robots]
        told = {
            'name': self._backend.name,
            'memories': survey.memories,
            'first': None if survey.first_ns is None else format_iso(survey.first_ns),
            'last': None if survey.last_ns is None else format_iso(survey.last_ns),
            'now': format_iso(self._backend.now_ns()),
            'maps': [area_json(area) for area in survey.areas],
            'robots': [{'name': name, 'position': pose.position, 'yaw': pose.yaw} for name, pose in poses],
            'planner': self._backend.planner,
            'embedder': self._backend.recall.embedder_name,
            'abilities': sorted(ability.value for ability in self._backend.abilities),
        }
        told = brief(told)
        maps = ', '.join(quoted(area.map_id) for area in survey.areas)
        line = f'{told["name"]}: {survey.memories} memories, {told.get("first")} to {told.get("last")}'
        return result(f'{line}, of maps {maps or "unknown"}; it is {told["now"]}', told)

    async def ask(self, form: TalkForm, ctx: Context) -> CallToolResult:
        exchanges = self._site.exchanges
        conversation = f'mcp {form.conversation}' if form.conversation else ''
        exchange = exchanges.begin(
            form.question, asker=caller(ctx), conversation=conversation, scope=form.scope()
        )
        exchange = await _until_over(ctx, exchanges, exchange, lambda: exchanges.cancel(exchange.id))
        if exchange.answer is None:
            raise InvalidRequest(exchange.error or 'there is no answer')
        return result(answer_text(exchange.answer), told_answer(exchange.answer, form.question))

    def remember(self, form: NoteForm, ctx: Context) -> dict[str, str]:
        memory_id = self._backend.note(form)
        logger.warning('%s noted memory %s', caller(ctx), memory_id)
        return {'id': memory_id}

    def event(self, form: EventForm, ctx: Context) -> dict[str, str]:
        memory_id = self._backend.tell(form.deed())
        logger.warning('%s told deed %s', caller(ctx), memory_id)
        return {'id': memory_id}

    def forget(self, form: ForgetForm, ctx: Context) -> dict[str, Any]:
        found = self._backend.doomed(form)
        # Also where nothing is found yet: what the conditions hold for may come late.
        count = 0 if form.dry_run else forget(self._site, form, asker=caller(ctx))
        return {'forgotten': count, 'found': len(found), 'unknown': sorted(set(form.id) - set(found))}

    async def go_to(self, form: GoForm, ctx: Context) -> dict[str, Any]:
        drives, now_ns = self._site.drives, self._backend.now_ns()
        target = await anyio.to_thread.run_sync(form.target, self._known, now_ns)
        drive = drives.begin(target, map_id=form.map, asker=caller(ctx))
        drive = await _until_over(ctx, drives, drive, lambda: drives.give_up(drive.id, asker=caller(ctx)))
        if drive.stage not in ('arrived', 'sent'):
            raise InvalidRequest(f'{drive.stage}: {drive.detail}')
        goal = drive.goal
        return {'stage': drive.stage, 'position': brief(goal.pose.position) if goal else None}

    def _known(self, memory_id: str) -> Memory:
        """Return a memory.

        :raises InvalidRequest: there is none of that id
        """
        found = self._backend.get([memory_id])
        if not found:
            raise InvalidRequest(
                f'there is no memory {memory_id!r}; it may have been forgotten: recall again'
            )
        return found[0]


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
