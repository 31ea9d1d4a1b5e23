"""The checker of the SQL's style sees each breach, and nothing in comments or literals."""

from __future__ import annotations

import pytest

from tests.support.style import grant_problems, problems

FINE = """-- A join in a comment, and raise exception 'in one' too.
create or replace function lenses.fn_x()
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = '22023',
    message = 'there is no join here';
end;
$$;

comment on function lenses.fn_x() is
  'Says nothing.';
"""


def test_a_source_in_style_passes() -> None:
    assert list(problems(FINE)) == []


@pytest.mark.parametrize(
    ("good", "bad", "line", "word"),
    [
        ("stable\n", "", 2, "volatile"),
        ("stable\nsecurity definer", "security definer\nstable", 2, "order"),
        ("end;\n$$", "end\n$$", 13, "end;"),
        ("exception using", "exception 'x' using", 10, "raise"),
        ("is\n  'Says", "is 'Says", 16, "comment"),
        ("message =", "hint = (select 1 from a join b using (c)), message =", 12, "inner"),
        ("nothing.", "nothing" + "!" * 90, 17, "columns"),
    ],
)
def test_each_breach_is_found(good: str, bad: str, line: int, word: str) -> None:
    (found,) = problems(FINE.replace(good, bad))
    assert found[0] == line
    assert word in found[1]


GRANTS = """-- a
grant usage on schema lenses to a;

grant execute on function
  lenses.fn_a(uuid, text),
  lenses.fn_b()
to a;

-- b
grant usage on schema lenses to b;
"""


@pytest.mark.parametrize(
    ("good", "bad", "line", "word"),
    [
        ("-- a\n", "-- a\n", 0, ""),
        ("lenses.fn_a(uuid, text),\n  lenses.fn_b()", "lenses.fn_b(),\n  lenses.fn_a()", 4, "sort"),
        ("lenses.fn_b()", "lenses.fn_a()", 4, "once"),
        ("lenses to b;", "lenses to b;\ngrant select on lenses.x to a;", 11, "further up"),
        ("lenses to b;", "lenses to b;\ngrant usage on schema agents to b;", 11, "add to it"),
        ("lenses to b;", "lenses to b, a;", 10, "one role"),
    ],
)
def test_each_grant_out_of_place_is_found(good: str, bad: str, line: int, word: str) -> None:
    found = list(grant_problems(GRANTS.replace(good, bad)))
    assert [(place, word in text) for place, text in found] == ([(line, True)] if line else [])
