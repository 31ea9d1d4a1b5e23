"""Signatures of Standard Webhooks, and what an answer asks for. Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime

LEAST, MOST = 24, 64  # bytes of a key
LONGEST = 86_400.0  # seconds that Retry-After is heeded for


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
    """Seconds that a Retry-After header asks for, a day at most; None where it says nothing."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), LONGEST)
    try:
        at = parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(at - (time.time() if now is None else now), 0.0), LONGEST)
