"""The site that a request is for."""

from typing import Annotated

from fastapi import Depends, Request

from remembr_ros.web.site import Site


async def site_of(request: Request) -> Site:
    """Return the site of the application."""
    site: Site = request.app.state.site
    return site


SITE = Annotated[Site, Depends(site_of)]
