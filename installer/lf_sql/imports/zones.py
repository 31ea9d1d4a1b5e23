"""Zones that a file may have: names of the IANA database, spelt as there."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import available_timezones

from lf_sql.imports.found import Refused

# What zoneinfo lists and the database refuses: they mean the machine's zone, or none.
_LOCAL = {"localtime", "posixrules", "Factory"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{1,62}")


@cache
def names() -> frozenset[str]:
    """All of them; empty where this machine has no zone data."""
    return frozenset(available_timezones() - _LOCAL)


def trouble(name: str) -> str | None:
    """Why lf-sql would refuse the zone; None where it would not."""
    found = names()
    if name in found or (not found and _NAME.fullmatch(name) and name not in _LOCAL):
        return None
    near = next((one for one in found if one.casefold() == name.casefold()), None)
    hint = f'write "{near}"' if near else "such as Europe/Berlin"
    return f'"{name}" is no name of a zone, {hint}'


def require(name: str, what: str) -> str:
    """The name; Refused where lf-sql would refuse the whole file for it."""
    said = trouble(name)
    if said:
        raise Refused(f"{what} {said}")
    return name
