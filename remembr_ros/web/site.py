"""What all routes, and MCP, share."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import tzinfo

from remembr_ros.web.backend import Backend
from remembr_ros.web.drives import Drives
from remembr_ros.web.exchanges import Exchanges
from remembr_ros.web.following import Following
from remembr_ros.web.live import Live
from remembr_ros.web.pictures import Pictures

Transcribe = Callable[[bytes], str]
"""Returns what is said in a recording, as a browser makes it; may block, and raises RemembrError."""


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
