import asyncio
import threading

from remembr_ros.web.following import News
from remembr_ros.web.live import ANEW, MOST_WAITING, Event, Live
from test.unit.memory.recall_contract import DRIVE

PATIENCE_S = 20.0


async def taken(stream: object, count: int) -> list[Event | None]:
    found: list[Event | None] = []
    async for event in stream.events():  # type: ignore[attr-defined]
        found.append(event)
        if len(found) == count:
            break
    return found


def test_what_happens_is_told_from_any_thread() -> None:
    async def read() -> list[Event | None]:
        live = Live()
        stream = live.open()
        teller = threading.Thread(target=lambda: [live.tell(Event(kind)) for kind in ('memories', 'map')])
        teller.start()
        found = await asyncio.wait_for(taken(stream, 2), PATIENCE_S)
        teller.join()
        return found

    assert [event and event.kind for event in asyncio.run(read())] == ['memories', 'map']


def test_only_the_latest_of_a_kind_waits_and_nothing_grows() -> None:
    async def read() -> list[Event | None]:
        live = Live()
        stream = live.open()
        for number in range(3):
            live.tell(Event('memories', number))
            live.tell(Event('exchange', number, str(number)))
        kept = await asyncio.wait_for(taken(stream, 4), PATIENCE_S)
        for number in range(10 * MOST_WAITING + 2):
            live.tell(Event('exchange', number, str(number)))
        return kept + await asyncio.wait_for(taken(stream, 2), PATIENCE_S)

    found = asyncio.run(read())
    told = [(event.kind, event.about) for event in found[:4] if event]
    assert told == [('exchange', 0), ('exchange', 1), ('memories', 2), ('exchange', 2)]
    assert found[4] is ANEW  # and not the newest alone, as if that were all
    assert found[5] == Event('exchange', 10 * MOST_WAITING + 1, str(10 * MOST_WAITING + 1))


def test_a_quiet_stream_is_heard_of_and_one_that_is_not_wanted_is_not() -> None:
    async def read() -> Event | None:
        live = Live()
        stream = live.open(lambda event: event.kind == 'map')
        live.tell(Event('state'))
        return await anext(stream.events(heartbeat_s=0.01))

    assert asyncio.run(read()) is None


def test_streams_end_with_it() -> None:
    async def read() -> list[list[Event | None]]:
        live = Live()
        streams = [live.open() for _ in range(3)]
        live.drop(streams.pop())
        assert len(live) == 2
        late = live.open()
        reading = [asyncio.ensure_future(taken(stream, 1)) for stream in (streams[0], late)]
        await asyncio.sleep(0)
        live.close()
        live.drop(streams[1])
        reading.append(asyncio.ensure_future(taken(live.open(), 1)))
        return await asyncio.wait_for(asyncio.gather(*reading), PATIENCE_S)

    assert asyncio.run(read()) == [[], [], []]


def test_who_tells_after_the_loop_ended_is_not_stopped() -> None:
    live = Live()

    async def leave() -> None:
        live.open()

    asyncio.run(leave())
    live.tell(Event('map'))


def test_of_memories_that_a_page_missed_it_learns_that_it_did() -> None:
    first, second = (News(version, 14 + version, (DRIVE[0],), False) for version in (1, 2))
    found = Event('memories', second).after(Event('memories', first)).about
    assert found == News(2, 16, (), True)
    assert Event('map', 1).after(Event('map')) == Event('map', 1)
    assert Event('memories', first).after(None).about is first
