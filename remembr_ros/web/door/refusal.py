"""What is answered instead of what was asked for."""

import json
import math


class Refusal(Exception):
    """Raised when a request is not let in, or not answered.

    :param error: a sentence that says what to do; as with the application's own errors
    :param wait_s: [s] until it may be tried again
    """

    def __init__(self, status: int, error: str, wait_s: float = 0.0) -> None:
        super().__init__(error)
        self.status = status
        self.wait_s = wait_s

    @property
    def body(self) -> bytes:
        """JSON in UTF-8."""
        return json.dumps({'error': str(self)}, ensure_ascii=False).encode()

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """Those that go with the body."""
        headers = [(b'content-type', b'application/json'), (b'content-length', b'%d' % len(self.body))]
        if self.status == 401:
            headers.append((b'www-authenticate', b'Bearer'))
        if self.wait_s > 0.0:
            headers.append((b'retry-after', b'%d' % max(1, math.ceil(self.wait_s))))
        return headers
