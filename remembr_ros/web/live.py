"""Events for all open pages, bounded for those that read slowly."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

from remembr_ros.web.following import News

MOST_WAITING = 50  # events for one page, the newest of each kind; one more, and ANEW waits in their place
HEARTBEAT_S = 15.0  # without an event a page hears this often that it is still connected


@dataclass(frozen=True, slots=True)
class Event:
    """What happened.

    :param kind: memories, situation, exchange, map or state
    :param about: an object that says more; shared, and not to be changed
    :param key: what an event takes the place of, with its kind, where that one still waits
    """

    kind: str
    about: object = None
    key: str = ''

    def after(self, missed: 'Event | None') -> 'Event':
        """Return it in place of one of its kind that was not told: of memories, that more has changed."""
        if missed is None or not isinstance(self.about, News):
            return self
        return replace(self, about=replace(self.about, new=(), anew=True))


ANEW = Event('anew')  # more has happened than is told: whoever reads this reads everything anew


class Stream:
    """What waits for one page; made by :meth:`Live.open`, read by one task of the event loop."""

    def __init__(self, wants: Callable[[Event], bool]) -> None:
        self._wants = wants
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str], Event] = {}
        self._ended = False

    def put(self, event: Event) -> None:
        """Have an event wait; from any thread."""
        if not self._wants(event):
            return
        with self._lock:
            place = (event.kind, event.key)
            self._waiting[place] = event.after(self._waiting.pop(place, None))
            if len(self._waiting) > MOST_WAITING:
                self._waiting = {(ANEW.kind, ''): ANEW}
        self._wake()

    def end(self) -> None:
        """Have the reader end; from any thread."""
        self._ended = True
        self._wake()

    async def events(self, heartbeat_s: float = HEARTBEAT_S) -> AsyncIterator[Event | None]:
        """Yield what happens, until the stream ends; None: nothing did for a while."""
        while not self._ended:
            try:
                await asyncio.wait_for(self._woken.wait(), heartbeat_s)
            except asyncio.TimeoutError:
                yield None
                continue
            self._woken.clear()
            with self._lock:
                waiting, self._waiting = self._waiting, {}
            for event in waiting.values():
                yield event

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._woken.set)


class Live:
    """Tells every open page what happens. Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: set[Stream] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._streams)

    def tell(self, event: Event) -> None:
        """Tell an event to every open page; from any thread."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            stream.put(event)

    def open(self, wants: Callable[[Event], bool] = lambda _: True) -> Stream:
        """Return a new stream; from the event loop. It has to be given to :meth:`drop` in the end."""
        stream = Stream(wants)
        with self._lock:
            self._streams.add(stream)
            if self._closed:
                stream.end()
        return stream

    def drop(self, stream: Stream) -> None:
        """Forget a stream that nobody reads any more."""
        with self._lock:
            self._streams.discard(stream)

    def close(self) -> None:
        """End every stream, and each that is opened from now on."""
        with self._lock:
            self._closed = True
            streams = list(self._streams)
        for stream in streams:
            stream.end()
