"""Routes for whoever may ask: questions, and speech."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.questions import TalkForm
from remembr_ros.web import forms
from remembr_ros.web.api.errors import refused_as
from remembr_ros.web.api.event_stream import EVENT_STREAM, sse
from remembr_ros.web.api.request_scope import SITE, raised
from remembr_ros.web.door.access import Right, needs
from remembr_ros.web.exchanges import Exchange
from remembr_ros.web.live import ANEW, Stream
from remembr_ros.web.site import Site

routes = APIRouter(dependencies=[Depends(needs(Right.ASK))], tags=['asking'])


@routes.post('/api/ask', responses={200: {'content': {EVENT_STREAM: {}}}})
async def ask(site: SITE, request: Request, body: TalkForm) -> forms.ExchangeJson:
    """Ask a question and wait for the answer. With `Accept: text/event-stream` the answer is a stream of
    events `exchange`, one at each progress; the last one has the answer, or says why there is none. When its
    stream is cut off, a question goes on: DELETE /api/exchanges/ID ends it."""
    if not body.question.strip():
        raise InvalidRequest('the question is empty')
    conversation = f'page {body.conversation}' if body.conversation else ''
    scope = raised(body, site).scope()
    # Opened first: who cannot be told of the answer does not ask.
    stream = site.live.open(lambda event: event.kind == 'exchange')
    try:
        exchange = site.exchanges.begin(
            body.question, asker=request.state.who, conversation=conversation, scope=scope
        )
    except BaseException:
        site.live.drop(stream)
        raise
    progress = _progress(site, stream, exchange)
    if EVENT_STREAM in request.headers.get('accept', ''):
        events = (sse('exchange', forms.exchange_json(changed)) async for changed in progress)
        return StreamingResponse(events, media_type=EVENT_STREAM)  # type: ignore[return-value]
    async for changed in progress:
        exchange = changed
    return forms.exchange_json(exchange)


@routes.delete('/api/exchanges/{exchange_id}')
def cancel(
    site: SITE, exchange_id: Annotated[str, Path(max_length=64, description='of a question')]
) -> forms.ExchangeJson:
    """Cancel a question that is under way."""
    try:
        with refused_as(409):
            return forms.exchange_json(site.exchanges.cancel(exchange_id))
    except KeyError:
        raise HTTPException(404, 'there is no such question any more') from None


@routes.post('/api/speech')
async def speech(site: SITE, request: Request) -> dict[str, str]:
    """Return the `text` that is said in the recording that is the body: webm, ogg, wav or mp4."""
    if site.transcribe is None:
        raise HTTPException(404, 'nobody understands speech here; start the server with --speech MODEL')
    return {'text': await run_in_threadpool(site.transcribe, await request.body())}


async def _progress(site: Site, stream: Stream, exchange: Exchange) -> AsyncIterator[Exchange]:
    """Yield an exchange now and at each change, until it is over or the server ends."""
    try:
        yield exchange
        async for event in stream.events():
            now = site.exchanges.get(exchange.id) if event is ANEW else event and event.about
            if isinstance(now, Exchange) and now.id == exchange.id:
                yield now
                if now.is_over:
                    return
    finally:
        site.live.drop(stream)
