"""A connection to an OpenAI-compatible server, made at first use, with retries where they help."""

import os
import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from remembr_ros.bounded_request import Bounds, bounded_client
from remembr_ros.errors import ChatUnavailable, InvalidRequest, ReplyInvalid
from remembr_ros.printable import redacted, shown_url, url_secrets

if TYPE_CHECKING:
    from openai import OpenAI

CONNECT_S = 5.0
"""A server that takes longer to accept a connection is not there; there may be time to try again [s]."""

_PARSING = (ReplyInvalid, ValueError, TypeError, AttributeError, RuntimeError, OSError)
"""Raised by the HTTP client, or by the package's own parsing of a body that is no chat reply, or too deep."""

NO_LIST = (404, 405, 501)
"""By these a server says that it lists no models."""

_LOADING = re.compile(r'\b(?:loading|warming up|starting)\b', re.IGNORECASE)
_Found = TypeVar('_Found')
FIRST_S = 0.5  # [s] the first wait is at most so long, each further one at most twice the one before
LOADING_S = 1.0  # [s] after which a server that loads its model is asked again, as long as there is time
LONGEST_S = 8.0  # [s] no wait is longer, unless the server asks for it


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is, and whose key it wants.

    :param base_url: of the server, perhaps with user and password; None: OPENAI_BASE_URL if set, else OpenAI
    :param key_variable: the environment variable that holds its key
    :param needs_key: it answers nobody without a key
    :raises InvalidRequest: the URL is none
    """

    base_url: str | None = field(repr=False)
    key_variable: str
    needs_key: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if self.base_url is not None:
            self._parts(self.base_url)

    @property
    def key(self) -> str:
        """The key from the environment; empty if there is none."""
        return os.environ.get(self.key_variable, '').strip()

    @property
    def where(self) -> str:
        """The server as it may be shown: without a password."""
        return shown_url(self._url) if self._url else 'the OpenAI API'

    @property
    def address(self) -> tuple[str | None, tuple[str, str] | None]:
        """The URL without user and password, which libraries would log; and these two.

        :raises InvalidRequest: OPENAI_BASE_URL counts, and is no URL
        """
        if not (url := self._url):
            return None, None
        login = self._parts(url).netloc.rpartition('@')[0]
        if not login:
            return url, None
        user, _, password = login.partition(':')
        return url.replace(f'{login}@', '', 1), (unquote(user), unquote(password))

    @property
    def secrets(self) -> set[str]:
        """What must not be shown of what the server says."""
        return url_secrets(self._url) | ({self.key} if self.key else set())

    @property
    def _url(self) -> str:
        return self.base_url or os.environ.get('OPENAI_BASE_URL', '').strip()

    @staticmethod
    def _parts(url: str) -> SplitResult:
        try:
            parts = urlsplit(url)
            parts.port  # noqa: B018  looked at now: it may be none
        except ValueError:
            parts = SplitResult('', '', '', '', '')
        if parts.scheme not in ('http', 'https') or not parts.hostname or not url.isprintable():
            raise InvalidRequest(
                f'{shown_url(url)!r} is no language model server; give a URL such as http://localhost:8000/v1'
            )
        return parts


class Refused(ChatUnavailable):
    """Raised when the server answers with an error.

    :param reply: all that it said; not to be shown, as it may hold the key
    """

    def __init__(self, message: str, status: int, reply: str, retry_after: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.said = reply
        self.retry_after = retry_after

    @property
    def is_loading(self) -> bool:
        """Whether the server will answer once it has loaded its model, as llama.cpp's says."""
        return self.status == 503 and bool(_LOADING.search(self.said))


class ConnectionLost(ChatUnavailable):
    """Raised when there is no connection, or it ends before the answer does."""


class ChatEndpoint:
    """A server and its key; safe to share between threads.

    :param max_retries: of a request that failed in a way that a retry can help
    :param model_option: names a model on the command line; for messages
    :raises InvalidRequest: OPENAI_BASE_URL counts, and is no URL
    """

    def __init__(self, server: Server, max_retries: int, *, model_option: str = '--llm') -> None:
        self.where = server.where
        self._server = server
        self._url, self._login = server.address
        self._max_retries = max_retries
        self._model_option = model_option
        self._lock = threading.Lock()
        self._client: OpenAI | None = None

    def create(self, fields: dict[str, Any], bounds: Bounds) -> Any:
        """Ask for a chat completion, once.

        :raises Refused, ConnectionLost: see there
        :raises ChatUnavailable: what came back is no chat reply
        :raises Cancelled, TimeOver: see :class:`remembr_ros.bounded_request.Bounds`
        """
        # Any: the package types every field of a message, which no compatible server keeps to.
        return bounds.run(lambda: self._answered(lambda client: client.chat.completions.create(**fields)))

    def first_model(self, bounds: Bounds) -> str:
        """Return the first model that the server lists.

        :raises ChatUnavailable: there is none
        :raises Cancelled, TimeOver: see :class:`remembr_ros.bounded_request.Bounds`
        """
        try:
            listed = self.retried(lambda: self.models(bounds), bounds)
        except Refused as error:
            if error.status not in NO_LIST:
                raise
            raise ChatUnavailable(
                f'{self.where} lists no models; name one with {self._model_option}, and check the URL: is it '
                'right, with or without /v1?'
            ) from error
        name = str(getattr(listed[0], 'id', None) or '') if listed else ''
        if not name:
            lack = 'lists a model without a name' if listed else 'offers no model'
            raise ChatUnavailable(f'{self.where} {lack}; name one with {self._model_option}')
        return name

    def models(self, bounds: Bounds) -> list[Any]:
        """Return the models that the server lists, of which any part may be missing or mistyped.

        :raises Refused, ConnectionLost, ChatUnavailable, Cancelled, TimeOver: see :meth:`create`
        """
        return bounds.run(lambda: self._answered(lambda client: list(client.models.list())))

    def retried(self, request: Callable[[], _Found], bounds: Bounds) -> _Found:
        """Do something with the server, again where that can help and the time allows it."""
        attempt = 0
        while True:
            try:
                return request()
            except (Refused, ConnectionLost) as error:
                status, after = (
                    (error.status, error.retry_after) if isinstance(error, Refused) else (None, None)
                )
                loading = isinstance(error, Refused) and error.is_loading
                if not loading and (attempt == self._max_retries or not may_help(status, str(error))):
                    raise
                seconds = max(LOADING_S, wait_s(0, after)) if loading else wait_s(attempt, after)
                if seconds >= bounds.remaining_s:
                    raise  # rather now than when the time is over: others may step in
                bounds.pause(seconds)
                attempt += not loading

    def no_chat(self, error: BaseException) -> ChatUnavailable:
        """Return what to raise for an answer that is no chat reply."""
        return ChatUnavailable(
            f'{self.where} sends no chat replies: {self._shown(error)}; is the URL right, with /v1?'
        )

    def shown(self, text: str) -> str:
        """Return what the server says; some repeat the key that they refuse, or the headers of a request."""
        return redacted(text, self._server.secrets)[:300]

    def _answered(self, send: Callable[[Any], _Found]) -> _Found:
        client = self._connected()
        import openai

        try:
            return send(client)
        except openai.APIStatusError as error:
            text = str(error)
            # A text that is the whole error, as VILA's server and FastAPI send it, the package leaves out.
            if isinstance(error.body, str) and error.body not in text and not error.body.startswith('<'):
                text = f'{text} - {error.body}'
            raise Refused(
                f'{self.where} refused: {error.status_code} {self.shown(text)}',
                error.status_code,
                text,
                error.response.headers.get('Retry-After'),
            ) from error
        except openai.APIConnectionError as error:  # a timeout is one, too
            # What the HTTP client raises comes as it is, or as the cause: that differs between versions.
            cause = error.__cause__
            if isinstance(cause, ReplyInvalid):
                raise self.no_chat(cause) from error
            raise ConnectionLost(
                f'{self.where} cannot be reached: is the server running? ({self._shown(cause or error)})'
            ) from error
        except (openai.OpenAIError, *_PARSING) as error:
            raise self.no_chat(error) from error

    def _connected(self) -> 'OpenAI':
        with self._lock:
            if self._client is None:
                import openai

                if not self._server.key and self._server.needs_key:
                    raise ChatUnavailable(f'no language model: {self._server.key_variable} is not set')
                try:
                    self._client = openai.OpenAI(
                        # Local servers want no key, but the package does.
                        api_key=self._server.key or 'none',
                        base_url=self._url,
                        max_retries=0,
                        timeout=openai.Timeout(None, connect=CONNECT_S),
                        http_client=bounded_client(openai.DefaultHttpxClient, self._login),
                    )
                # Wide on purpose: it reads proxies and certificates of the environment, whatever is in it.
                except Exception as error:
                    raise ChatUnavailable(f'{self.where} cannot be asked: {self._shown(error)}') from error
            return self._client

    def _shown(self, error: BaseException) -> str:
        return self.shown(str(error) or type(error).__name__)


def may_help(status: int | None, text: str = '') -> bool:
    """Return whether the same request may succeed later.

    :param status: of the refusal; None: there was no reply
    :param text: what came with the refusal
    """
    if status is None:
        return True
    if status == 429:
        return 'insufficient_quota' not in text  # that is an empty account, not a busy server
    return status >= 500 and status != 501


def wait_s(attempt: int, retry_after: str | None) -> float:
    """Return how long to wait before the next attempt [s].

    Any time up to a bound that doubles (full jitter), so that robots that failed together do not come back
    together; what the server asks for, if that is longer.

    :param attempt: 0 after the first one
    :param retry_after: the server's header, seconds or an HTTP date
    """
    return max(random.uniform(0.0, min(LONGEST_S, FIRST_S * 2.0 ** min(attempt, 10))), _asked_s(retry_after))


def _asked_s(retry_after: str | None) -> float:
    if not retry_after:
        return 0.0
    try:
        seconds = float(retry_after)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, OverflowError, TypeError):
            return 0.0
    return seconds if seconds > 0.0 else 0.0  # of NaN, too
