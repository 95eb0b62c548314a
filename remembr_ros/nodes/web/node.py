"""The web node: the page, its API and MCP beside a running robot."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.nodes.base.lifecycle import run
from remembr_ros.nodes.base.managed_node import Level, ManagedNode
from remembr_ros.nodes.base.pose_source import check_pose_parameters
from remembr_ros.nodes.web.parameters import WebParameters, door_of
from remembr_ros.nodes.web.ros_backend import RosBackend
from remembr_ros.timestamps import zone_named

if TYPE_CHECKING:  # fastapi comes with the extra web
    from remembr_ros.web.door.access import Access
    from remembr_ros.web.door.door import Door
    from remembr_ros.web.door.serving import WebServer
    from remembr_ros.web.site import Site


class WebNode(ManagedNode):
    """Serves the page over what the memory node and the agent node offer."""

    parameters: WebParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('web', WebParameters, **kwargs)
        self._door: Door | None = None
        self._access: Access | None = None
        self._server: WebServer | None = None
        self._site: Site | None = None

    def check(self, parameters: WebParameters) -> None:
        check_pose_parameters(parameters)
        zone_named(parameters.time_zone)

    def load(self) -> None:
        try:
            from remembr_ros.web.app import build_app
            from remembr_ros.web.door.access import Access
            from remembr_ros.web.door.serving import WebServer
            from remembr_ros.web.site import transcriber
        except ImportError as error:
            raise InvalidRequest(
                f'the page needs the extra web ({error}): pip install "remembr_ros[web]"'
            ) from error
        self._build_app, self._make_server, self._transcriber = build_app, WebServer, transcriber
        self._door = door_of(self.parameters)
        self._access = Access.by(self._door.token_file)

    def start(self) -> None:
        assert self._door is not None
        assert self._access is not None
        backend = RosBackend(self, self.parameters)
        self.while_active.callback(backend.close)
        server = self._server = self._make_server(self._door, self._access)
        self.while_active.callback(server.stop)
        transcribe = self._transcriber(self.parameters.whisper_model)
        app = self._build_app(backend, self._access, transcribe=transcribe, zone=self.parameters.time_zone)
        site = self._site = app.state.site

        def end() -> None:
            site.following.end()
            backend.close()  # before the server, for requests under way wait for other nodes
            server.stop()

        self.while_active.callback(end)
        server.start(app)
        self.get_logger().info(f'the page is at {server.url}')

    def stop(self) -> None:
        self._server = self._site = None

    def release(self) -> None:
        self._door = self._access = None

    def diagnose(self) -> tuple[Level, str, Mapping[str, object]]:
        server, site = self._server, self._site
        if server is None or site is None:
            return Level.OK, '', {}
        values = {
            'address': server.url,
            'open pages': len(site.live),
            'requests refused': server.refused,
        }
        problem = site.following.contents.problem
        return Level.WARN if problem else Level.OK, problem or f'serving at {server.url}', values


def main(args: list[str] | None = None) -> None:
    """Run the web node until it is told to end."""
    run(WebNode, args)


if __name__ == '__main__':
    main()
