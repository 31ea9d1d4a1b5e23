"""JSON whose numbers are digits, never floats: what a file or the database says stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from psycopg.types.json import set_json_loads

from lf_sql.db import Connection

BEFORE, AFTER = 131_072, 16_383  # digits before and after the point that numeric takes
LONGEST = 4000  # digits; Python reads no longer text as an int


def digits(number: Decimal) -> str:
    """Without an exponent, and without zeros at the end: equal numbers are the same text.

    ValueError for more digits than the database takes: a short exponent would be a long text.
    """
    if number.is_zero():
        return "0"  # whatever its exponent
    if number.adjusted() >= BEFORE or exponent(number) < -AFTER:
        raise ValueError("this number has more digits than the database takes")
    text = format(number, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text


def exponent(number: Decimal) -> int:
    """The power of ten of its last digit; of what is no number, 0."""
    found = number.as_tuple().exponent
    return found if isinstance(found, int) else 0


def dumps(
    value: Any,
    *,
    sort_keys: bool = False,
    indent: int | None = None,
    ensure_ascii: bool = True,
    default: Callable[[Any], Any] | None = None,
) -> str:
    """As json.dumps, for Decimals too."""

    def text(value: Any, margin: str) -> str:
        match value:
            case Decimal():
                return digits(value)
            case float():
                return digits(Decimal(repr(value)))
            case dict() if value:
                items = sorted(value.items()) if sort_keys else value.items()
                parts = [
                    f"{json.dumps(str(key), ensure_ascii=ensure_ascii)}: "
                    f"{text(item, deeper(margin))}"
                    for key, item in items
                ]
                return lines("{", parts, "}", margin)
            case list() | tuple() if value:
                return lines("[", [text(item, deeper(margin)) for item in value], "]", margin)
        return json.dumps(value, ensure_ascii=ensure_ascii, default=default)

    def deeper(margin: str) -> str:
        return margin + " " * (indent or 0)

    def lines(first: str, parts: list[str], last: str, margin: str) -> str:
        if indent is None:
            return first + ", ".join(parts) + last
        inner = f"\n{deeper(margin)}"
        return first + inner + f",{inner}".join(parts) + f"\n{margin}" + last

    return text(value, "")


def shown(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """As plain.dumps: of ASCII alone, all of it visible."""
    return dumps(value, indent=2, default=default).replace("\x7f", "\\u007f")


def loads(text: str | bytes) -> Any:
    """As json.loads, with Decimals in place of floats."""
    return json.loads(text, parse_float=Decimal, parse_int=_whole)


def _whole(text: str) -> int | Decimal:
    return int(text) if len(text) < LONGEST else Decimal(text)


def read_exactly(conn: Connection) -> None:
    """From now on the connection reads JSON so."""
    set_json_loads(loads, conn)
