"""What happens, as server-sent events."""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse

from remembr_ros.web import forms
from remembr_ros.web.api.request_scope import SITE
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.exchanges import Exchange
from remembr_ros.web.following import News
from remembr_ros.web.live import ANEW, Event, Stream
from remembr_ros.web.site import Site

routes = APIRouter(dependencies=[Depends(needs(Right.LOOK))], tags=['looking'])

logger = logging.getLogger(__name__)

EVENT_STREAM = 'text/event-stream'


@routes.get('/api/events', response_class=StreamingResponse, responses={200: {'content': {EVENT_STREAM: {}}}})
async def events(site: SITE) -> StreamingResponse:
    """Tell what happens, until you go: `hello` first, with the version of the memories; `memories` when some
    come or go (anew: more than is told here has changed); `situation`, `exchange`, `map` and `state`. Of what
    is not read in time only the latest of its kind is kept; where that is too much, all is told anew. The id
    of an event is the version: who connects again, and is greeted with another one, has missed something."""
    return StreamingResponse(_told(site, site.live.open()), media_type=EVENT_STREAM)


def sse(kind: str, data: Mapping[str, Any], version: int | None = None) -> str:
    """Return an event as it is sent.

    :param version: its id; None: it has none
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    numbered = '' if version is None else f'id: {version}\n'
    return f'{numbered}event: {kind}\ndata: {text}\n\n'


async def _told(site: Site, stream: Stream) -> AsyncIterator[str]:
    try:
        version = site.following.contents.version
        yield sse('hello', {'version': version}, version)
        async for event in stream.events():
            if event is None:
                yield ': nothing new\n\n'
                continue
            for told_event in _everything(site) if event is ANEW else [event]:
                try:
                    text = sse(told_event.kind, _data(told_event, site), site.following.contents.version)
                except ValueError:
                    logger.exception('an event %s cannot be told', told_event.kind)  # others can
                    continue
                yield text
    finally:
        site.live.drop(stream)


def _everything(site: Site) -> list[Event]:
    """Return events that tell all that there is."""
    contents = site.following.contents
    news = News(contents.version, len(contents.outline), (), anew=True)
    exchanges = [Event('exchange', exchange, exchange.id) for exchange in site.exchanges.all()]
    return [Event('memories', news), *map(Event, ('situation', 'map', 'state')), *exchanges]


def _data(event: Event, site: Site) -> Mapping[str, Any]:
    if isinstance(event.about, Exchange):
        return forms.exchange_json(event.about)
    if isinstance(event.about, News):
        return forms.news_json(event.about)
    if event.kind == 'situation':
        return forms.situation_json(site.backend.situation(), site.drives.current)
    return {}
