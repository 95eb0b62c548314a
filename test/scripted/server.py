"""A chat server that replies by script: for tests, and for trying things without a language model.

    python -m test.scripted.server SCRIPT.json [--port N]

prints its URL, such as http://127.0.0.1:43125/v1, and serves until it is terminated. The script is a JSON
list of rules; the first one that fits replies, as often as it fits:

    [{"when": "lift", "turn": 0,
      "reply": {"tool_calls": [{"name": "recall_text", "arguments": {"query": "lift"}}]}},
     {"when": "any", "reply": {"content": "I cannot say.", "prompt_tokens": 12}}]

"when" is looked for in the last message of the user, in any case of letters; "any" fits all. "turn", if
given, is how often the model has spoken in the conversation. A reply has the fields of ScriptedReply, each
optional; they make whatever a server can do wrong: docs/models.md.
"""

import argparse
import json
import logging
import socket
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.stop import stop_on_signals
from test.scripted.reply import ScriptedReply, load_rules, send

__all__ = ['ChatRequest', 'Script', 'ScriptedReply', 'ScriptedServer', 'main']

logger = logging.getLogger(__name__)

Script = Callable[[dict[str, Any]], ScriptedReply] | Sequence[ScriptedReply]
"""A function from a request's body to the reply, or replies in turn, of which the last one repeats."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What the server was asked: a POST.

    :param headers: their names in lower case
    """

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class ScriptedServer:
    """Speaks OpenAI's chat API on 127.0.0.1, on a port of its own, and keeps what it was asked.

    :param reply: can be exchanged while the server runs
    :param model: the one that it lists
    :param delay_s: how long every reply takes [s]
    :param port: 0: any that is free
    :param root: before the paths of the API
    """

    def __init__(
        self,
        reply: Script = (),
        model: str = 'scripted',
        delay_s: float = 0.0,
        *,
        port: int = 0,
        root: str = '/v1',
    ) -> None:
        self.root = root
        self.model = model
        self.models: ScriptedReply | None = None
        """Sent for the list of models in place of the one model."""
        self._delay_s = delay_s
        self._lock = threading.Lock()
        self._reply: Script = ()
        self._sent = 0
        self.requests: list[ChatRequest] = []
        """What was asked until now, in the order of asking; the list of models is not counted."""
        self.hung_up = 0
        """How many clients closed the connection before they had their reply."""
        self._closed = threading.Event()
        self.reply = reply
        self._server = _Server(('127.0.0.1', port), _handler(self))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={'poll_interval': 0.01}, name='scripted', daemon=True
        )
        self._thread.start()

    def __enter__(self) -> 'ScriptedServer':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def url(self) -> str:
        return f'http://127.0.0.1:{self._server.server_port}{self.root}'

    @property
    def reply(self) -> Script:
        return self._reply

    @reply.setter
    def reply(self, script: Script) -> None:
        with self._lock:
            self._reply = script
            self._sent = 0

    def close(self) -> None:
        """Stop; what hangs is let go without a reply."""
        if not self._closed.is_set():
            self._closed.set()
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def answer(self, request: ChatRequest) -> ScriptedReply:
        """Keep a request and return the reply to it."""
        with self._lock:
            self.requests.append(request)
            script, turn = self._reply, self._sent
            self._sent += 1
        if callable(script):
            reply = script(request.body)
        elif not script:
            reply = ScriptedReply('the script is empty', status=500)
        else:
            reply = script[min(turn, len(script) - 1)]
        if refused := [name for name in reply.refuse if name in request.body]:
            return ScriptedReply(f'{refused[0]} is not supported by this model', status=400)
        return reply

    def send(self, reply: ScriptedReply, connection: socket.socket) -> None:
        """Send a reply, unless the server is closed or the client hangs up before."""
        if not send(replace(reply, hang_s=reply.hang_s + self._delay_s), connection, self._closed):
            with self._lock:
                self.hung_up += 1


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # with the usual 5, the sixth of many clients at once waits for a second


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.rstrip('/') != f'{server.root}/models':
                self._send(ScriptedReply(f'no such page: {self.path}', status=404))
                return
            model = {'id': server.model, 'object': 'model', 'created': 0, 'owned_by': 'scripted'}
            self._send(server.models or ScriptedReply(body={'object': 'list', 'data': [model]}))

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get('Content-Length') or 0))
            if self.path.rstrip('/') != f'{server.root}/chat/completions':
                self._send(ScriptedReply(f'no such page: {self.path}', status=404))
                return
            try:
                body = json.loads(data)
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = server.answer(ChatRequest(self.path, headers, body))
            except Exception as error:
                logger.exception('the script has no reply')
                reply = ScriptedReply(f'the script failed: {error!r}', status=500)
            self._send(reply)

        def _send(self, reply: ScriptedReply) -> None:
            self.close_connection = True
            server.send(reply, self.connection)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve a script until the process is terminated."""
    parser = argparse.ArgumentParser(prog='scripted_server', description=(__doc__ or '').splitlines()[0])
    parser.add_argument('script', type=Path, help='JSON file with a list of rules')
    parser.add_argument('--port', type=int, default=0, help='0: any that is free (default)')
    parser.add_argument('--model', default='scripted', help='name of the model that is listed')
    parser.add_argument('--delay', type=float, default=0.0, help='how long every reply takes, in seconds')
    options = parser.parse_args(arguments)
    try:
        script = load_rules(options.script)
        with ScriptedServer(script, options.model, options.delay, port=options.port) as server:
            # Not KeyboardInterrupt: a shell starts what runs in the background with SIGINT ignored.
            stop = stop_on_signals()
            sys.stdout.write(f'{server.url}\n')
            sys.stdout.flush()
            stop.wait()
    except (InvalidRequest, OSError) as error:
        sys.stderr.write(f'{error}\n')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
