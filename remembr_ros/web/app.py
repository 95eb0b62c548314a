"""The application: page, API, events and MCP over one backend."""

import asyncio
import ctypes
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import Response
from starlette.routing import Route

from remembr_ros import __version__
from remembr_ros.web.api import acting, asking, drawing, event_stream, looking
from remembr_ros.web.api.errors import ErrorJson, add_handlers
from remembr_ros.web.api.request_scope import known_only
from remembr_ros.web.backend import Backend, Listeners
from remembr_ros.web.door.access import Access, login_routes
from remembr_ros.web.live import Event
from remembr_ros.web.site import Site, Transcribe, make_site

logger = logging.getLogger(__name__)

PAGE = Path(__file__).parent / 'page'
ALWAYS_ASK = {'Cache-Control': 'no-cache'}  # a browser shows what it has once it was told that it is the same
WATCH_S = 0.5  # how often is looked at what the robot does, while a page is open
STATE_EVERY = 10  # looks after which that of the parts is looked at, too

_M_MMAP_THRESHOLD = -3  # mallopt(3)
LARGE_BYTES = 2**18  # what is larger is mapped by itself, and unmapped when it is freed


def build_app(
    backend: Backend, access: Access, *, transcribe: Transcribe | None = None, zone: str = ''
) -> FastAPI:
    """Return the application; it stands behind a guard, and whoever runs it closes the backend afterwards.

    :param access: where one logs in
    :param transcribe: understands speech; None: nobody does
    :param zone: the IANA name of the time zone in which days begin; empty: this machine's
    :raises InvalidRequest: there is no such zone
    """
    site = make_site(backend, transcribe=transcribe, zone=zone)
    mcp = _mcp(site)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if mcp is not None:
                await stack.enter_async_context(mcp.run())
            await stack.enter_async_context(_alive(site))
            yield

    app = FastAPI(
        title='remembr',
        version=__version__,
        description='What a robot remembers: what it saw, where and when.',
        openapi_url='/api/openapi.json',
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        dependencies=[Depends(known_only)],
        responses={'default': {'model': ErrorJson, 'description': 'why not, and what to do about it'}},
    )
    app.state.site = site
    app.state.access = access
    add_handlers(app)
    for module in (looking, drawing, event_stream, asking, acting):
        app.include_router(module.routes)
    app.include_router(login_routes(access))

    @app.get('/', include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / 'index.html', headers=ALWAYS_ASK)

    app.mount('/page', _PageFiles(directory=PAGE))
    if mcp is not None:
        app.router.routes += [Route(path, mcp) for path in ('/mcp', '/mcp/')]  # without a redirect
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=4)  # 9 takes three times as long
    return app


@asynccontextmanager
async def _alive(site: Site) -> AsyncIterator[None]:
    """Follow memory and robot meanwhile."""
    give_back_freed()
    site.backend.listen(Listeners(site.following.tell, site.exchanges.heard))
    site.following.start()
    watching = asyncio.create_task(_watch(site))
    try:
        yield
    finally:
        watching.cancel()
        site.live.close()
        site.exchanges.close()
        site.drives.close()
        with suppress(asyncio.CancelledError):
            await watching
        await asyncio.to_thread(site.following.close)


async def _watch(site: Site) -> None:
    """Tell the open pages when what the robot does, its map or its parts change."""
    looks = 0
    known: tuple[Any, ...] = (None, None, None)
    while True:
        await asyncio.sleep(WATCH_S)
        if not len(site.live):
            continue
        try:
            state = await asyncio.to_thread(site.backend.state) if looks % STATE_EVERY == 0 else known[2]
            # A drive's change is told at once, and once more here: what it brings along may come later.
            seen = ((site.backend.situation(), site.drives.current), site.backend.map(), state)
        except Exception:
            logger.exception('what goes on cannot be told')
            continue
        looks += 1
        for kind, before, now in zip(('situation', 'map', 'state'), known, seen, strict=True):
            if before is not now and before != now:
                site.live.tell(Event(kind))
        known = seen


def _mcp(site: Site) -> Any:
    """Return what serves MCP; None: its SDK is not installed."""
    if find_spec('mcp') is None:
        return None
    from remembr_ros.web.mcp.server import McpMount

    return McpMount(site)


class _PageFiles(StaticFiles):
    """The page's files, which a browser asks for anew each time: there are few, and they change together."""

    def file_response(self, *args: Any, **options: Any) -> Response:
        response = super().file_response(*args, **options)
        response.headers.update(ALWAYS_ASK)
        return response


def give_back_freed() -> None:
    """Have large arrays given back to the system as soon as they are freed; for the whole process.

    glibc raises that threshold to the largest array that was ever freed, up to 32 MB, and from then on keeps
    such arrays in an arena for each thread: a server whose requests are answered by many threads grows by a
    hundred megabytes. Where there is no glibc nothing changes.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES)
