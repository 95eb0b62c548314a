"""The application: page, API and events over one backend."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware

from remembr_ros import __version__
from remembr_ros.timestamps import zone_named
from remembr_ros.web.api import acting, asking, event_stream, looking
from remembr_ros.web.api.errors import ErrorJson, add_handlers
from remembr_ros.web.backend import Backend, Listeners
from remembr_ros.web.door.access import Right
from remembr_ros.web.drives import Drives
from remembr_ros.web.exchanges import Exchanges
from remembr_ros.web.following import Following
from remembr_ros.web.live import Event, Live
from remembr_ros.web.pictures import Pictures
from remembr_ros.web.site import Site, Transcribe

PAGE = Path(__file__).parent / 'page'
WATCH_S = 0.5  # how often is looked at what the robot does, while a page is open
STATE_EVERY = 10  # looks after which that of the parts is looked at, too


class _Everybody:
    """Lets everybody do everything: until there is a guard."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope['type'] == 'http':
            scope.setdefault('state', {}).update(right=Right.ACT, who='local')
        await self._app(scope, receive, send)


def build_app(
    backend: Backend, access: Any = None, *, transcribe: Transcribe | None = None, zone: str = ''
) -> FastAPI:
    """Return the application; whoever runs it closes the backend afterwards.

    :param access: who may what
    :param transcribe: understands speech; None: nobody does
    :param zone: the IANA name of the time zone in which days begin; empty: this machine's
    """
    live = Live(event_stream.merged)
    following = Following(backend, lambda news: live.tell(Event('memories', news)))
    site = Site(
        backend=backend,
        following=following,
        live=live,
        exchanges=Exchanges(backend, lambda exchange: live.tell(Event('exchange', exchange, exchange.id))),
        drives=Drives(backend, lambda: live.tell(Event('situation'))),
        pictures=Pictures(backend),
        zone=zone_named(zone),
        zone_name=zone,
        transcribe=transcribe,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        backend.listen(Listeners(following.tell, site.exchanges.heard))
        following.start()
        watching = asyncio.create_task(_watch(site))
        try:
            yield
        finally:
            watching.cancel()
            live.close()
            site.exchanges.close()
            site.drives.close()
            following.close()
            with suppress(asyncio.CancelledError):
                await watching

    app = FastAPI(
        title='remembr',
        version=__version__,
        description='What a robot remembers: what it saw, where and when.',
        openapi_url='/api/openapi.json',
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        responses={'default': {'model': ErrorJson, 'description': 'why not, and what to do about it'}},
    )
    app.state.site = site
    app.state.access = access
    add_handlers(app)
    for module in (looking, event_stream, asking, acting):
        app.include_router(module.routes)

    @app.get('/', include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / 'index.html', headers={'Cache-Control': 'no-cache'})

    app.mount('/page', StaticFiles(directory=PAGE))
    app.add_middleware(GZipMiddleware, minimum_size=1000)
    app.add_middleware(_Everybody)
    return app


async def _watch(site: Site) -> None:
    """Tell the open pages when what the robot does, its map or its parts change."""
    looks = 0
    known: tuple[Any, ...] = (None, None, None)
    while True:
        await asyncio.sleep(WATCH_S)
        if not len(site.live):
            continue
        state = known[2]
        if looks % STATE_EVERY == 0:
            state = await asyncio.to_thread(site.backend.state)
        looks += 1
        seen = (site.backend.situation(), site.backend.map(), state)
        for kind, before, now in zip(('situation', 'map', 'state'), known, seen, strict=True):
            if before is not now and before != now:
                site.live.tell(Event(kind))
        known = seen
