"""A few lines that must run in the browser before Gradio's own scripts do.

Gradio 6's loading indicator asks for an animation frame sixty times a second for as
long as the page is open, and keeps hold of the browser's function before any script
given to `launch()` runs. On a machine where the page and the model share two cores
that takes more time than drawing the race, so the page's first script hands frames
out slowly while a race is running, and while nobody has acted for two seconds (page.js
says when). It also paints the paper before anything loads.
"""

from __future__ import annotations

from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

EARLY = b"""<style>html{background:#f7f6f2}
@media(prefers-color-scheme:dark){html{background:#0e1218}}</style><script>(function(){
var ask=window.requestAnimationFrame.bind(window),drop=window.cancelAnimationFrame.bind(window);
window.slipstreamCalm=false;
window.requestAnimationFrame=function(f){return window.slipstreamCalm?
-setTimeout(function(){f(performance.now())},400):ask(f)};
window.cancelAnimationFrame=function(id){if(id<0)clearTimeout(-id);else drop(id)};
})()</script>"""


class EarlyScript:
    """ASGI middleware: puts EARLY at the top of the page's head, and touches nothing else."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; change the answer only where it is an HTML page."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        start: dict[str, Any] = {}
        body = b""

        async def rewrite(message: Message) -> None:
            nonlocal body, start
            if message["type"] == "http.response.start" and _is_page(message):
                start = dict(message)
            elif start and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if not message.get("more_body"):
                    await _send_page(start, body, send)
            else:
                await send(message)

        await self.app(scope, receive, rewrite)


def _is_page(message: Message) -> bool:
    headers = dict(message["headers"])
    kind: bytes = headers.get(b"content-type", b"")
    return kind.startswith(b"text/html") and b"content-encoding" not in headers


async def _send_page(start: dict[str, Any], body: bytes, send: Send) -> None:
    body = body.replace(b"<head>", b"<head>" + EARLY, 1)
    kept = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    length = (b"content-length", str(len(body)).encode())
    await send({**start, "headers": [*kept, length]})
    await send({"type": "http.response.body", "body": body})
