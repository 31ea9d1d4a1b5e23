"""Whole lines of crontabs where an expression belongs: each is one, or gets a hint that is true."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cron.vectors import refusal
from tests.support.database import Database

DATA = Path(__file__).parents[1] / "surface" / "data"
TAKEN = (DATA / "crontab_taken.txt").read_text(encoding="utf-8").splitlines()
REFUSED = [
    line.split("|", 1)[1]
    for line in (DATA / "crontab_refused.txt").read_text(encoding="utf-8").splitlines()
]
ALONE = re.compile(
    r"Write the five fields alone, without a command: (?P<fields>.+)"
    r"|Nicknames and commands are not supported; write (?P<nickname>.+) alone in place of @\w+\."
)


def meant(fields: list[str]) -> list[str]:
    """Our spelling: no question mark, no whole name of a day or month."""
    return [
        re.sub(r"[a-z]{4,}", lambda word: word[0][:3], f.lower().replace("?", "*")) for f in fields
    ]


def test_each_is_valid_or_gets_a_true_hint(shared_db: Database) -> None:
    query = "select lenses.fn_cron_parse(%s)"
    told: dict[str, int] = {}
    for line in TAKEN + REFUSED:
        error = refusal(shared_db, query, (line,))
        if error is None:
            continue
        assert error.sqlstate == "22023", line
        hint = error.diag.message_hint or ""
        words = line.removeprefix("-").split()
        if advice := ALONE.fullmatch(hint):
            # what it says to write is valid, and the line's own
            wanted = advice["fields"] or advice["nickname"]
            assert refusal(shared_db, query, (wanted,)) is None, (line, hint)
            assert words[0].startswith("@") or meant(wanted.split()) == meant(words[:5])
            told["exactly"] = told.get("exactly", 0) + 1
        elif "alone" in hint:
            # a part that nobody could name, since the five fields are refused for themselves too
            is_dash = line.startswith("-")
            assert is_dash or refusal(shared_db, query, (" ".join(words[:5]),)), (line, hint)
            assert ("leading -" in hint) == is_dash
            told["alone"] = told.get("alone", 0) + 1
        else:
            # nothing that a command behind five good fields would get
            assert refusal(shared_db, query, (" ".join(words[:5]),)), (line, hint)
            assert hint, line
    assert len(TAKEN) + len(REFUSED) >= 600
    assert told["exactly"] > 450 and told["alone"] > 50
