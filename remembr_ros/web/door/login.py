"""A token becomes a cookie, so that a page need not keep it where scripts could read it."""

import math

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Scope

from remembr_ros.web.door.access import LONGEST_TOKEN, SESSION_S, Access, TooManyFailures
from remembr_ros.web.door.door import client_of


class Login(BaseModel):
    """Who comes in shows this."""

    model_config = ConfigDict(extra='forbid')
    token: str = Field(min_length=1, max_length=LONGEST_TOKEN)


def cookie_name(scope: Scope) -> str:
    """Return the name of the cookie: cookies know no ports, and a machine may serve several memories."""
    _, port = scope.get('server') or ('', None)
    return f'remembr-{port}' if port else 'remembr'


def login_routes(access: Access) -> APIRouter:
    """Return POST /api/login and POST /api/logout."""
    router = APIRouter(prefix='/api', tags=['access'])

    @router.post('/login', status_code=204)
    async def login(request: Request, body: Login) -> Response:
        """Show a token; the answer sets a cookie that stands for it."""
        if not access.wants_tokens:
            return Response(status_code=204)
        try:
            right = access.of_token(body.token, client_of(request.client.host if request.client else ''))
        except TooManyFailures as error:
            raise HTTPException(429, str(error), {'Retry-After': f'{math.ceil(error.wait_s)}'}) from error
        if right is None:
            raise HTTPException(401, 'this token is wrong', {'WWW-Authenticate': 'Bearer'})
        return _with_cookie(request, access.log_in(right), int(SESSION_S))

    @router.post('/logout', status_code=204)
    async def logout(request: Request) -> Response:
        """Forget the cookie."""
        access.log_out(request.cookies.get(cookie_name(request.scope), ''))
        return _with_cookie(request, '', 0)

    return router


def _with_cookie(request: Request, session: str, max_age_s: int) -> Response:
    # Behind a proxy that speaks TLS the scheme here is http, and that of the page is the Origin's.
    secure = request.url.scheme == 'https' or request.headers.get('origin', '').startswith('https://')
    response = Response(status_code=204, headers={'Cache-Control': 'no-store'})
    name = cookie_name(request.scope)
    response.set_cookie(name, session, max_age_s, path='/', secure=secure, httponly=True, samesite='strict')
    return response
