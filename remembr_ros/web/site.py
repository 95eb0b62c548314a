"""What all routes and MCP share: one memory as it is shown, and deletion from it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

from remembr_ros.forms.forget import ForgetForm
from remembr_ros.speech.sound.recording import decode_recording
from remembr_ros.speech.whisper import WhisperTranscriber
from remembr_ros.timestamps import machine_zone_name, zone_named
from remembr_ros.web.backend import Backend
from remembr_ros.web.exchanges import Exchanges
from remembr_ros.web.following import Following, News
from remembr_ros.web.jobs import Drives
from remembr_ros.web.live import Event, Live
from remembr_ros.web.pictures import Pictures

Transcribe = Callable[[bytes], str]
"""Returns what is said in a recording, as a browser makes it; may block, and raises RemembrError."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Site:
    """One memory, perhaps with its robot, as it is shown.

    :param zone: in which a day begins and ends
    :param zone_name: its IANA name; empty: it has none
    :param transcribe: None: nobody understands speech
    """

    backend: Backend
    following: Following
    live: Live
    exchanges: Exchanges
    drives: Drives
    pictures: Pictures
    zone: tzinfo
    zone_name: str = ''
    transcribe: Transcribe | None = None


def make_site(backend: Backend, *, transcribe: Transcribe | None = None, zone: str = '') -> Site:
    """Return what shows a memory; nothing is started yet.

    :param zone: the IANA name of the time zone in which days begin; empty: this machine's
    :raises InvalidRequest: there is no such zone
    """
    live, pictures = Live(), Pictures(backend)

    def on_news(news: News) -> None:
        if news.anew:  # somebody else may have forgotten something
            pictures.drop()
            exchanges.drop_gone(following.contents.outline)
        live.tell(Event('memories', news))

    following = Following(backend, on_news, on_problem=lambda: live.tell(Event('state')))
    exchanges = Exchanges(backend, lambda exchange: live.tell(Event('exchange', exchange, exchange.id)))
    return Site(
        backend=backend,
        following=following,
        live=live,
        exchanges=exchanges,
        drives=Drives(backend, lambda _: live.tell(Event('situation'))),
        pictures=pictures,
        zone=zone_named(zone),
        zone_name=zone or machine_zone_name(),
        transcribe=transcribe,
    )


def transcriber(model: str) -> Transcribe | None:
    """Return what understands recordings, whose model is loaded with the first one.

    :param model: of Whisper; empty: nobody understands speech
    """
    if not model:
        return None
    whisper = WhisperTranscriber(model)
    return lambda recording: whisper.transcribe(decode_recording(recording)).text


def forget(site: Site, form: ForgetForm, *, asker: str) -> int:
    """Delete memories with their pictures, thumbnails and the answers that rest on them; return how many.

    :param asker: who wants that, for the log
    :raises InvalidRequest: nothing may be forgotten here
    :raises StoreUnavailable: the memory is out of reach
    """
    going = site.backend.doomed(form)
    names = {name for memory in site.backend.get(going) for name in memory.keyframes}
    # Before: it may be done where nobody hears so.
    logger.warning('%s wants %d memories forgotten: %s', asker, len(going), ', '.join(going[:100]))
    try:
        count = site.backend.forget(form)
    finally:
        site.pictures.drop(names)
    site.exchanges.forget(going)
    logger.warning('%d of them are forgotten', count)
    return count
