"""Who may talk to the console: the right host, the one-time link, the session, the CSRF token."""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lf_sql.listening import reached_at

MAX_BODY = 64 * 1024
MAX_QUERY = 4 * 1024
CSRF_HEADER = "x-csrf-token"
SAFE_METHODS = {"GET", "HEAD"}

HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; object-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Gate:
    """The secrets of one run of the console."""

    def __init__(self, port: int) -> None:
        self.cookie = f"lf_sql_console_{port}"
        self.csrf = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._link: str | None = secrets.token_urlsafe(32)
        self._lock = threading.Lock()

    @property
    def link(self) -> str | None:
        """The token of the address that is printed; None once it has been used."""
        return self._link

    def enter(self, token: str) -> bool:
        """Use the link: true once, for the right token."""
        with self._lock:
            if self._link is None or not _same(token, self._link):
                return False
            self._link = None
            return True

    def welcome(self, response: Response) -> None:
        """Give the session to the browser that came by the link."""
        response.set_cookie(
            self.cookie, self._session, httponly=True, samesite="strict", path="/", max_age=86400
        )

    def knows(self, request: Request) -> bool:
        return _same(request.cookies.get(self.cookie, ""), self._session)

    def is_ours(self, request: Request) -> bool:
        """A write comes from a page of ours: the token in a header, and no other origin."""
        origin = request.headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
            return False
        return _same(request.headers.get(CSRF_HEADER, ""), self.csrf)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def allowed_hosts(host: str, extra: Iterable[str] = ()) -> set[str]:
    """Names under which the console answers: loopback, where it listens, and the given ones."""
    given = (name.lower() for name in extra)
    return {"127.0.0.1", "localhost", "[::1]", reached_at(host).lower(), *given}


class Guard:
    """ASGI middleware around everything: host, size, session, CSRF, and every answer's headers."""

    def __init__(self, app: ASGIApp, gate: Gate, hosts: set[str]) -> None:
        self.app = app
        self.gate = gate
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        answer = self._refuse(Request(scope))
        if answer is not None:
            await answer(scope, receive, send_with_headers)
            return
        await self.app(scope, _bounded(receive), send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        if _hostname(request.headers) not in self.hosts:
            return PlainTextResponse("This console does not answer to that host name.", 421)
        if len(request.url.query) > MAX_QUERY:
            return PlainTextResponse("The address is too long.", 414)
        if request.headers.get("content-length", "0").isdigit() is False:
            return PlainTextResponse("Bad content-length.", 400)
        if int(request.headers.get("content-length", "0")) > MAX_BODY:
            return PlainTextResponse("The form is too large.", 413)
        token = request.query_params.get("token")
        if request.url.path == "/" and token is not None and request.method == "GET":
            if self.gate.knows(request):
                return RedirectResponse("/", 303)
            if self.gate.enter(token):
                response = RedirectResponse("/", 303)
                self.gate.welcome(response)
                return response
        if request.url.path.startswith("/static/") and request.method in SAFE_METHODS:
            return None
        if not self.gate.knows(request):
            return PlainTextResponse(
                "This console is opened by the link that lf-sql console printed; it works once. "
                "Start the console again for a new one.",
                401,
            )
        if request.method not in SAFE_METHODS and not self.gate.is_ours(request):
            return PlainTextResponse(
                "The form does not come from this console: reload the page.", 403
            )
        return None


def _hostname(headers: Headers) -> str:
    host = headers.get("host", "").lower()
    return host.rpartition(":")[0] if ":" in host.rpartition("]")[2] else host


def _bounded(receive: Receive) -> Receive:
    """A body that claims no length is bounded as well."""
    seen = 0

    async def read() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MAX_BODY:
            return {"type": "http.disconnect"}
        return message

    return read
