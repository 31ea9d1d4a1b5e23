"""Signatures of Standard Webhooks, and what an answer asks for. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime

LEAST, MOST = 24, 64  # bytes of a key
LONGEST = 86_400.0  # seconds that Retry-After is heeded for
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_WHOLE_DAY = "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_MONTH = f"(?P<month>{'|'.join(MONTHS)})"
_TIME = "(?P<time>(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60))"
HTTP_DATES = [  # RFC 9110, 5.6.7: what is sent today, that of RFC 850, that of asctime
    re.compile(f"{_DAY}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT"),
    re.compile(f"{_WHOLE_DAY}, (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT"),
    re.compile(f"{_DAY} {_MONTH} (?P<day>[ 0-9][0-9]) {_TIME} (?P<year>[0-9]{{4}})"),
]


def keys_of(secret: str) -> list[bytes]:
    """The keys of `whsec_…`; several, with blanks between, while one replaces another.

    ValueError says what is wrong, without repeating any of it.
    """
    keys = []
    for word in secret.split():
        try:
            key = base64.b64decode(word.removeprefix("whsec_"), validate=True)
        except (binascii.Error, ValueError):
            raise ValueError("a secret is whsec_ and base64") from None
        if not LEAST <= len(key) <= MOST:
            raise ValueError(f"a secret has {LEAST} to {MOST} bytes, not {len(key)}")
        keys.append(key)
    if not keys:
        raise ValueError("the secret is empty")
    return keys


def headers(
    keys: Sequence[bytes], id: str, body: bytes, now: float | None = None
) -> dict[str, str]:
    """`webhook-id`, `webhook-timestamp` and, where there are keys, `webhook-signature`."""
    second = str(int(time.time() if now is None else now))
    found = {"webhook-id": id, "webhook-timestamp": second}
    if keys:
        content = b".".join((id.encode(), second.encode(), body))
        digests = (hmac.new(key, content, hashlib.sha256).digest() for key in keys)
        found["webhook-signature"] = " ".join(
            f"v1,{base64.b64encode(digest).decode()}" for digest in digests
        )
    return found


def retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds that a Retry-After header asks for, a day at most; None where it says nothing.

    Whole seconds, or an HTTP date in any of its three forms; lenses.fn_retry_after reads the same.
    """
    now = time.time() if now is None else now
    text = (value or "").strip(" \t")
    if text.isascii() and text.isdigit():
        return min(float("0" + text.lstrip("0")[:9]), LONGEST)
    match = next(filter(None, (form.fullmatch(text) for form in HTTP_DATES)), None)
    if match is None:
        return None
    year = int(match["year"])
    if len(match["year"]) == 2:  # one that is no more than 50 years ahead
        latest = datetime.fromtimestamp(now, UTC).year + 50
        year = latest - (latest - year) % 100
    try:
        day = datetime(year, MONTHS.index(match["month"]) + 1, int(match["day"]), tzinfo=UTC)
    except ValueError:
        return None
    hours, minutes, seconds = (int(part) for part in match["time"].split(":"))
    at = day.timestamp() + 3600 * hours + 60 * minutes + seconds
    return min(max(at - now, 0.0), LONGEST)
