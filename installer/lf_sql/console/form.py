"""A form that was posted: its fields, and values that do not get as far as the database."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any, NoReturn

from lf_sql.db import INTEGER_MAX
from lf_sql.durations import duration


class UnfitError(Exception):
    """A field of a form that cannot be sent: its column, what is wrong, and the way out."""

    def __init__(self, field: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.field, self.message, self.hint = field, message, hint


class Form(dict[str, str]):
    """The fields of a form: the last value of each, blanks cut off; lists by `many`."""

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        super().__init__((name, value.strip()) for name, value in pairs)
        self._pairs = pairs

    def many(self, name: str) -> list[str]:
        return [value for key, value in self._pairs if key == name]

    def text(self, name: str) -> str | None:
        """The field, NULL where it is left empty."""
        return self.get(name) or None


def milliseconds(text: str | None, field: str) -> int | None:
    """A duration; None where it is left empty."""
    if not text:
        return None
    found = duration(text)
    if found is None:
        raise UnfitError(field, f"“{text[:60]}” is no duration.", "Write 5m or 1h 30m.")
    return round(found.total_seconds() * 1000)


def integer(text: str | None, field: str) -> int | None:
    """A whole number that a column of type integer holds; None where it is left empty."""
    if not text:
        return None
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 11):
        raise UnfitError(field, f"“{text[:60]}” is no whole number.", "For example 3.")
    if abs(int(text)) > INTEGER_MAX:
        raise UnfitError(field, f"{text} is too large.", f"At most {INTEGER_MAX}.")
    return int(text)


def instant(text: str, field: str) -> datetime:
    """A date and time of the form, without a zone."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        message = f"“{text[:60]}” is no date and time."
        raise UnfitError(field, message, "Write 2026-12-24T09:00.") from None


def day(text: str, field: str) -> date:
    """A date of the form."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UnfitError(field, f"“{text[:60]}” is no date.", "Write 2026-12-24.") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def parsed(text: str | None, field: str) -> Any:
    """JSON; None where it is left empty."""
    if not text:
        return None
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        where = "it has NaN or Infinity, or is too deep"
        if isinstance(error, json.JSONDecodeError):
            where = f"look at line {error.lineno}, column {error.colno}"
        hint = 'For example {"key": "value"}.'
        raise UnfitError(field, f"This is not JSON: {where}.", hint) from None
