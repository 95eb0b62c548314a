"""The parameters of the web node."""

import dataclasses
from pathlib import Path

from remembr_ros.forms.parameter import parameter
from remembr_ros.nodes.base.parameters import NodeParameters, PoseParameters
from remembr_ros.web.door.door import Door


@dataclasses.dataclass(frozen=True)
class WebParameters(NodeParameters, PoseParameters):
    """Parameters of the web node."""

    robot: str = parameter('robot', 'name of the robot, as the page and diagnostics show it')
    host: str = parameter(
        '127.0.0.1', 'address to serve the page at; any but 127.0.0.1, ::1 and localhost needs token_file'
    )
    port: int = parameter(8765, 'port to serve the page at; 0: a free one, which the log names', '0 to 65535')
    token_file: str = parameter(
        '', 'file of the tokens for looking, asking and acting (remembr web --new-tokens FILE writes one)'
    )
    certificate: str = parameter('', 'file of the certificate, PEM with its chain; empty: no TLS')
    key: str = parameter('', "file of the certificate's key, PEM; empty: it is in the same file")
    names: list[str] = parameter(
        [], 'further names that this machine is called by in a URL, as that of a reverse proxy'
    )
    time_zone: str = parameter('', "in which a day begins, such as Europe/Berlin; empty: this machine's")
    whisper_model: str = parameter(
        '', 'Whisper model that understands questions spoken to the page; empty: it has no microphone'
    )
    call_timeout: float = parameter(
        5.0, 'wait so long for the memory node and the agent node', '0.05 to 600 s'
    )


def door_of(p: WebParameters) -> Door:
    """Return where the page is served, and for whom; errors as of Door."""
    files = (p.token_file, p.certificate, p.key)
    tokens, certificate, key = (Path(file).expanduser() if file else None for file in files)
    return Door(p.host, p.port, tokens, certificate, key, tuple(p.names))
