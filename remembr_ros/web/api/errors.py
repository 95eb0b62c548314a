"""What goes wrong, as status codes and sentences; never a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from typing_extensions import TypedDict

from remembr_ros import errors
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.form import in_words
from remembr_ros.web.api.request_scope import form_of
from remembr_ros.web.exchanges import TooManyQuestions

RETRY_S = 2  # after which it is worth another try, where something is out of reach

_STATUS: tuple[tuple[type[errors.RemembrError], int], ...] = (
    (TooManyQuestions, 429),
    (InvalidRequest, 400),
    (errors.NothingRemembered, 404),
    (errors.BudgetExceeded, 504),
    (errors.StoreUnavailable, 503),
    (errors.StoreMismatch, 503),
    (errors.EmbedderUnavailable, 503),
    (errors.NodeUnavailable, 503),
    (errors.NavigationUnavailable, 503),
    (errors.TranscriberUnavailable, 503),
    (errors.ChatUnavailable, 503),
    (errors.RemembrError, 409),
)


@contextmanager
def refused_as(status: int) -> Iterator[None]:
    """Have an InvalidRequest answered with another status than 400: not what was asked for is at fault."""
    try:
        yield
    except InvalidRequest as error:
        raise HTTPException(status, str(error)) from None


class ErrorJson(TypedDict):
    """What went wrong, and what to do about it."""

    error: str


def status_of(error: errors.RemembrError) -> int:
    """Return the status code for an error."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def add_handlers(app: FastAPI) -> None:
    """Have every error of the application answered by a sentence."""
    for kind in (errors.RemembrError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _answer)


async def _answer(request: Request, error: Exception) -> JSONResponse:
    status, headers = 500, dict[str, str]()
    sentence = 'this failed on the server; its log says why'  # as who serves this writes it there
    if isinstance(error, HTTPException):
        status, sentence, headers = error.status_code, str(error.detail), dict(error.headers or {})
    elif isinstance(error, RequestValidationError):
        # Of where a value stands, whether in the address or the body, its name is told.
        told = [
            {**wrong, 'loc': () if wrong['type'] == 'json_invalid' else wrong['loc'][1:]}
            for wrong in error.errors()
        ]
        status, sentence = 400, in_words(told, form_of(request), what=request.scope['route'].path)
    elif isinstance(error, errors.RemembrError):
        status, sentence = status_of(error), str(error)
        if status in (429, 503):
            headers = {'Retry-After': str(RETRY_S)}
    return JSONResponse({'error': sentence}, status, headers)
