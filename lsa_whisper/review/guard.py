"""What every request must have: the right host, the right origin, the secret, and a body of bounded size.

A page of another site could send requests to this machine from a browser (cross-site request forgery), or point a name
of its own at 127.0.0.1 (DNS rebinding). It knows neither the secret in the address nor can it send our ``Origin``, and
its ``Host`` is its own name.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

MAX_BODY_BYTES = 1 << 18
"""The largest body of a request: edits are short."""

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Sent with every response."""

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_App = Callable[[MutableMapping[str, Any], _Receive, _Send], Awaitable[None]]


class TooLargeError(Exception):
    """The body of a request is too large."""


class RequestGuard:
    """An ASGI application that passes on only what may come from our own page."""

    def __init__(self, app: _App, secret: str, port: int):
        """Guard ``app``, which is served at ``port``, by ``secret``."""
        self._app, self._secret = app, secret.encode()
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._origins = {b"http://" + host for host in self._hosts}

    async def __call__(self, scope: MutableMapping[str, Any], receive: _Receive, send: _Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        refusal = self._refusal(scope)
        if refusal:
            await _answer(refusal, send)
            return
        scope["path"] = scope["path"][len(self._secret) + 1 :] or "/"
        scope["raw_path"] = scope["path"].encode()
        await self._app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, scope: MutableMapping[str, Any]) -> int:
        """Return the status of a refusal, or 0."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts, origins = headers.get(b"host", []), headers.get(b"origin", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 403
        if any(origin not in self._origins for origin in origins):
            return 403
        sites = headers.get(b"sec-fetch-site", [])
        if any(site not in (b"same-origin", b"none") for site in sites) and not _opens_page(scope, headers):
            return 403
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return 405
        first = scope["path"].encode("utf-8", "surrogateescape").split(b"/")[1:2]
        if not first or not hmac.compare_digest(first[0], self._secret):
            return 404
        if scope["method"] == "POST":
            if not origins:
                return 403
            if headers.get(b"content-type", [b""])[0].split(b";")[0] != b"application/json":
                return 415
        length = headers.get(b"content-length", [b"0"])[0]
        return 413 if not length.isdigit() or int(length[:12]) > MAX_BODY_BYTES else 0


def _opens_page(scope: MutableMapping[str, Any], headers: dict[bytes, list[bytes]]) -> bool:
    """Return whether a window navigates to the page, as from the local file that leads to it.

    Only who knows the secret can do that, and a page of another site cannot read the answer or show it in a frame.
    """
    page = scope["method"] == "GET" and scope["path"].count("/") == 2 and scope["path"].endswith("/")
    return page and headers.get(b"sec-fetch-dest") == [b"document"]


def _limited(receive: _Receive) -> _Receive:
    """Count the bytes of the body as they come: a length may be left out or wrong."""
    size = 0

    async def limited() -> _Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MAX_BODY_BYTES:
            raise TooLargeError
        return message

    return limited


def _with_headers(send: _Send) -> _Send:
    async def sending(message: _Message) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
            others = [pair for pair in message.get("headers", []) if pair[0].decode().lower() not in SECURITY_HEADERS]
            message["headers"] = [*others, *own]
        await send(message)

    return sending


async def _answer(status: int, send: _Send) -> None:
    body = b"refused"
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode())]
    start: _Message = {"type": "http.response.start", "status": status, "headers": headers}
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": body})
