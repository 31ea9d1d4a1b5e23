"""Public holidays of a country, from the package holidays; the language of the names is pinned."""

from __future__ import annotations

import re
from datetime import date

from lf_sql.errors import LfSqlError

EXTRA = "pip install 'lf-sql[calendars]'"


def years(text: str | None, today: date) -> list[int]:
    """`2026`, `2026-2030`, `2026,2028`; this year and the next where nothing is said."""
    if text is None:
        return [today.year, today.year + 1]
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{4})\s*(?:-\s*(\d{4})\s*)?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not match or not 1900 <= first <= last <= 2200 or last - first > 100:
            raise LfSqlError(f"{text!r} are no years", "write 2026, 2026-2030 or 2026,2028")
        found |= set(range(first, last + 1))
    return sorted(found)


def dates(
    country: str, subdivision: str | None, span: list[int], observed: bool, language: str
) -> dict[date, str]:
    """Date and name, in order. Only the years asked for, wherever an observed day falls."""
    try:
        import holidays
    except ImportError:
        raise LfSqlError("public holidays need the extra package holidays", EXTRA) from None
    code = country.strip().upper()
    known = holidays.list_supported_countries(include_aliases=True)
    if code not in known:
        raise LfSqlError(
            f"no public holidays are known for {country!r}",
            "write the two letters of ISO 3166: US, TR, DE, GB",
        )
    supported = holidays.list_localized_countries(include_aliases=True).get(code, [])
    if supported and language not in supported:
        plain = [name for name in supported if name.split("_")[0] == language.split("_")[0]]
        english = [name for name in supported if name.startswith("en")]
        language = (plain or english or supported)[0]
    try:
        found = holidays.country_holidays(
            code,
            subdiv=subdivision,
            years=span,
            observed=observed,
            language=language if supported else None,
        )
    except (NotImplementedError, KeyError) as error:
        raise LfSqlError(
            f"{code} has no part {subdivision!r}: {error}",
            f"known: {', '.join(known[code][:20]) or 'none'}",
        ) from None
    return {day: name for day, name in sorted(found.items()) if day.year in span}
