"""Texts as SQL literals: whatever stands in them, the literal ends where they end."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from lf_sql.template import literal


@given(st.text(alphabet="av$'\\\n"))
@example("abc$v")
@example("$v$")
@example("$vv$abc$v")
def test_the_first_end_is_the_last(value: str) -> None:
    text = literal(value)
    match = re.match(r"\$\w+\$", text)
    assert match
    tag = match[0]
    assert text.index(tag, len(tag)) == len(text) - len(tag)
    assert text[len(tag) : -len(tag)] == value
