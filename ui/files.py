"""Plotly's script, from the installed package, served where the page can ask for it.

The page loads it only when somebody opens the close-up charts: it is larger than all the
rest together. Asked for relative to the page, so that it works below any root path. A HEAD
for it tells the page whether the server is still there (connection.js).
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from starlette.responses import FileResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PLOTLY = "/slipstream/plotly.min.js"


def plotly() -> Path:
    """The script in the installed package."""
    return Path(str(files("plotly") / "package_data" / "plotly.min.js"))


class Files:
    """ASGI middleware: answers requests for that one file, and passes on all others."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or pass on."""
        wanted = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if wanted and scope["path"].endswith(PLOTLY):
            headers = {"cache-control": "public, max-age=86400"}
            answer = FileResponse(plotly(), media_type="text/javascript", headers=headers)
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)
