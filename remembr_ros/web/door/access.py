"""Who may what."""

from collections.abc import Callable
from enum import IntEnum

from fastapi import HTTPException, Request


class Right(IntEnum):
    """What somebody may; each includes those before it."""

    LOOK = 1
    ASK = 2
    ACT = 3


def needs(right: Right) -> Callable[[Request], None]:
    """Return the dependency of a route that wants a right; the guard has put it into the request's state."""

    def check(request: Request) -> None:
        if request.state.right < right:
            raise HTTPException(403, f'this needs a token with the right to {right.name.lower()}')

    return check
