"""The handler of `lf-sql runs deliver`: each run is posted to a URL, and the answer is its end."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NoReturn

import httpx

from lf_sql import __version__, webhook
from lf_sql.executor.failures import (
    ContractViolated,
    RateLimited,
    RunFailed,
    TransientError,
    Verdict,
)
from lf_sql.executor.run import Run
from lf_sql.plain import plain

ANSWER_MOST = 1024 * 1024  # bytes of a body that can become a result
SAID_MOST = 300  # characters of another body that are kept

HOST = re.compile(r"([\w-]{1,63}\.)*[\w-]{1,63}\.?", re.ASCII)


def is_url(text: str) -> bool:
    """Whether it is an http or https URL that a request can be made of; a blank is in none."""
    if not text.isprintable() or " " in text:
        return False
    try:
        url = httpx.Request("POST", text).url
        host = url.host  # a name that begins with xn-- is decoded only now
    except (httpx.InvalidURL, ValueError):
        return False
    is_host = ":" in host or HOST.fullmatch(url.raw_host.decode()) is not None
    has_port = url.port is None or 0 < url.port < 65_536
    return url.scheme in ("http", "https") and is_host and has_port


class Endpoint:
    """One URL; a client, and so a pool of connections, of its own.

    200 with a JSON object completes the run with it; a number `spent_credits` in any answer that is
    a JSON object is booked. 202 leaves the run to the endpoint. 408, 425, 429, 5xx and no answer
    fail the attempt (`timeout`, `rate_limit`, `provider_error`), and Retry-After is kept; whatever
    else fails the run as `contract_violated`, without another attempt unless its policy's `retryOn`
    names that cause.
    """

    def __init__(self, url: str, keys: Sequence[bytes], timeout: float) -> None:
        self.url = url
        self._keys = keys
        self._timeout = timeout
        self._client: httpx.AsyncClient | None = None

    async def __call__(self, run: Run) -> Verdict | None:
        if self._client is None:
            self._client = _client(self._timeout)
        body = run.json.encode()
        signed = webhook.headers(self._keys, f"{run.id}:{run.attempt}", body)
        try:
            with run.span.post(self.url) as request:
                sent = {**signed, **request.headers}
                async with (
                    asyncio.timeout(self._timeout),
                    self._client.stream("POST", self.url, content=body, headers=sent) as answer,
                ):
                    request.answered(answer.status_code)
                    text, is_whole = await _body(answer)
        except (TimeoutError, httpx.TimeoutException):
            raise TimeoutError(f"no answer within {self._timeout:g} s") from None
        except httpx.HTTPError as error:
            raise TransientError(f"no answer: {plain(error) or type(error).__name__}") from None
        result = _object(text) if is_whole else None
        spent = (result or {}).get("spent_credits")
        if isinstance(spent, Decimal) and spent > 0:
            run.spend(spent)
        if answer.status_code == 202:
            run.leave()
            return None
        tries = "contract_violated" in run.policies["retry_policy"].get("retryOn", [])
        if answer.status_code == 200:
            if result is not None:  # which the database may refuse
                return Verdict(None, text.decode(), run.spent, is_final=not tries)
            said = _no_result(text, is_whole)
        elif failure := _failure(answer, text):
            raise failure
        else:
            said = _said(answer, text)
        raise ContractViolated(said, retry=tries)


@cache
def _trusted() -> ssl.SSLContext:
    """Read once: it takes a while, and the loop waits."""
    return httpx.create_ssl_context()


def _client(timeout: float) -> httpx.AsyncClient:
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(
        headers={
            "accept": "application/json",
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": f"lf-sql/{__version__}",
        },
        cookies=no_cookies,
        follow_redirects=False,
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
        timeout=httpx.Timeout(timeout),
        verify=_trusted(),
    )


async def _body(answer: httpx.Response) -> tuple[bytes, bool]:
    """As much as may become a result, as it came, and whether that is all of it."""
    text = b""
    async for chunk in answer.aiter_raw():
        text += chunk
        if len(text) > ANSWER_MOST:
            return text[:ANSWER_MOST], False
    return text, answer.headers.get("content-encoding", "identity").lower() == "identity"


def _object(text: bytes) -> dict[str, Any] | None:
    """The JSON object that it is, or None; NaN and the like are no JSON."""
    try:
        found = json.loads(
            text.decode(), parse_float=Decimal, parse_int=Decimal, parse_constant=_no_number
        )
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _no_result(text: bytes, is_whole: bool) -> str:
    if not is_whole:
        return f"the endpoint answered 200 with more than {ANSWER_MOST} bytes, or compressed"
    return f"the endpoint answered 200 without a JSON object: {_beginning(text)}"


def _said(answer: httpx.Response, text: bytes) -> str:
    beginning = _beginning(text)
    return f"the endpoint answered {answer.status_code}" + (f": {beginning}" if beginning else "")


def _failure(answer: httpx.Response, text: bytes) -> RunFailed | None:
    """What a status means that another attempt may change."""
    status, said = answer.status_code, _said(answer, text)
    wait = webhook.retry_after(answer.headers.get("retry-after"))
    if status in (425, 429):
        return RateLimited(wait, said)
    if status == 408:
        return RunFailed(said, cause="timeout", retry_after=wait)
    if status >= 500:
        return TransientError(said, retry_after=wait)
    return None


def _beginning(text: bytes) -> str:
    return plain(text[: 4 * SAID_MOST].decode(errors="replace").strip())[:SAID_MOST]
