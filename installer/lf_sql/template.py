"""SQL texts with values in them, for scripts that no driver binds parameters for."""

from __future__ import annotations

import re

from lf_sql import bundle


def literal(value: str) -> str:
    """A text as SQL, whatever standard_conforming_strings says."""
    tag = "v"
    while f"${tag}$" in f"{value}${tag}":  # the value's own end counts too
        tag += "v"
    return f"${tag}${value}${tag}$"


def filled(name: str, **values: str) -> str:
    """The template sql/queries/NAME.sql without its header, with its @marks@ filled in."""
    template = re.sub(r"\A(?:--[^\n]*\n)+", "", bundle.query(name))
    return re.sub(r"@([a-z]+)@", lambda mark: values[mark[1]], template)
