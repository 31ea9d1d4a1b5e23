"""Lengths of time as people write and read them: 90m, 1h 30m, 2 d."""

from __future__ import annotations

import re
from datetime import timedelta

UNITS = {
    "ms": 0.001,
    "s": 1,
    "m": 60,
    "min": 60,
    "h": 3600,
    "d": 86400,
    "w": 604800,
    "y": 31_622_400,
}
WORDS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1))
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d|w|y)")


def duration(text: str) -> timedelta | None:
    """`90m`, `1h30m`, `2 d`; None for any other text, and timedelta.max for anything longer."""
    text = text.strip().lower()
    rest = _PART.sub("", text).strip()
    if not text or rest:
        return None
    try:
        return timedelta(seconds=sum(float(m[1]) * UNITS[m[2]] for m in _PART.finditer(text)))
    except OverflowError:
        return timedelta.max


def spelt(milliseconds: float) -> str:
    """`6h`, `1h 30m`, `1d 2h`: what `duration` reads, as lenses.fn_interval_period writes it."""
    rest, parts = round(milliseconds), []
    for word, size in WORDS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{word}")
    return " ".join(parts) or "0s"
