"""Who is calling: nobody can be somebody else, by claims, by plans, by pools."""

from __future__ import annotations

import json
import re
from pathlib import Path

import psycopg
import pytest

from tests.support.database import Database
from tests.support.setups import acting
from tests.support.tenants import ALICE, BOB, Estate

ROOT = Path(__file__).parents[2]
HELPER = "select lensers.get_auth_lenser_id()::text"


def who(conn: Database, claims: str, older: str = "") -> str | None:
    with acting(conn, "authenticated", claims):
        conn.execute("select set_config('request.jwt.claim.sub', %s, true)", [older])
        return conn.value(HELPER)


@pytest.mark.parametrize(
    ("claims", "older", "expected"),
    [
        (ALICE.claims, "", ALICE.lenser),
        (json.dumps({"sub": ALICE.user.upper()}), "", ALICE.lenser),
        ("", ALICE.user, ALICE.lenser),
        (BOB.claims, ALICE.user, BOB.lenser),
        ("{}", ALICE.user, None),  # claims are there and name nobody: the older setting is stale
        ("{oops", ALICE.user, None),
        ("", "", None),
        ("", "x' or 1=1 --", None),
        ("null", "", None),
        ('"text"', "", None),
        ('{"sub": null}', "", None),
        ('{"sub": ""}', "", None),
        ('{"sub": "\\u0000"}', "", None),
        ('{"sub": 1e99999}', "", None),
        ("[" * 20000, "", None),
        ('{"a":' * 20000, "", None),
        (json.dumps({"sub": "x" * 1_000_000}), "", None),
        (json.dumps({"sub": ALICE.user + " "}), "", None),
        (json.dumps({"SUB": ALICE.user}), "", None),
        ('{"sub": "%s", "sub": "%s"}' % (ALICE.user, BOB.user), "", BOB.lenser),
    ],
)
def test_the_helper_never_raises(
    claims: str, older: str, expected: str | None, rooms: Database
) -> None:
    assert who(rooms, claims, older) == expected


def test_it_is_not_immutable(rooms: Database) -> None:
    """A08: the plan that A's call made answers B about B."""
    rooms.execute("set local plan_cache_mode = force_generic_plan")
    rooms.execute("prepare mine as select title from lenses.workflows")
    for caller in (ALICE, BOB, ALICE):
        with acting(rooms, "authenticated", caller.claims):
            assert rooms.column("execute mine") == [caller.secret]


def test_an_immutable_helper_would_show_another_his_rows(rooms: Database) -> None:
    rooms.execute("alter function lensers.get_auth_lenser_id() immutable")
    rooms.execute("set local plan_cache_mode = force_generic_plan")
    rooms.execute("prepare broken as select title from lenses.workflows")
    with acting(rooms, "authenticated", ALICE.claims):
        rooms.execute("execute broken")
    with acting(rooms, "authenticated", BOB.claims):
        assert rooms.column("execute broken") == [ALICE.secret]
    rooms.execute("deallocate broken")


def test_a_plan_of_the_owner_is_not_a_tenants(rooms: Database) -> None:
    """A32 (CVE-2016-2193 and its kin): executed seven times as a superuser, then by a tenant."""
    rooms.execute(
        "prepare everything(int) as select title from lenses.workflows where version = $1"
    )
    for _ in range(7):
        assert len(rooms.column("execute everything(1)")) == 2
    for caller in (ALICE, BOB):
        with acting(rooms, "authenticated", caller.claims):
            assert rooms.column("execute everything(1)") == [caller.secret]
    rooms.execute("deallocate everything")


def test_a_cursor_of_anothers_transaction_is_gone(rooms: Database) -> None:
    with acting(rooms, "authenticated", ALICE.claims):
        rooms.execute("declare left_open cursor for select title from lenses.workflows")
    with pytest.raises(psycopg.errors.InvalidCursorName), rooms.transaction():
        rooms.execute("fetch all from left_open")


def test_claims_do_not_survive_a_transaction(house: Database) -> None:
    """A09: a request through the same pooled connection that sets nothing is nobody."""
    with acting(house, "authenticated", ALICE.claims):
        assert house.value(HELPER) == ALICE.lenser
    with house.transaction():
        house.execute("set local role authenticated")
        assert house.value("select count(*) from lenses.workflows") == 0
    # the broken way: a setting of the session
    house.execute("select set_config('request.jwt.claims', %s, false)", [ALICE.claims])
    with house.transaction():
        house.execute("set local role authenticated")
        assert house.value("select count(*) from lenses.workflows") == 1


def test_no_claim_is_set_for_a_session() -> None:
    texts = {
        path: path.read_text(errors="replace")
        for folder in ("installer", "sql")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".sql", ".md", ".html")
    }
    texts[ROOT / "README.md"] = (ROOT / "README.md").read_text()
    found = [
        path.name
        for path, text in texts.items()
        if re.search(r"set_config\(\s*'(request\.[\w.]+|role)'[^)]*,\s*false\s*\)", text)
        or re.search(r"\bset\s+(session\s+)?request\.jwt", text, re.IGNORECASE)
    ]
    assert found == []


@pytest.mark.parametrize("role", ["anon", "authenticated", "service_role"])
def test_other_sessions_are_not_seen(role: str, rooms: Database) -> None:
    """A37: whose statements they are is not the request roles' business."""
    with rooms.another() as other, acting(rooms, role, ALICE.claims):
        pid = other.info.backend_pid
        query = rooms.value("select query from pg_stat_activity where pid = %s", [pid])
        assert query == "<insufficient privilege>"
        with pytest.raises(psycopg.errors.InsufficientPrivilege), rooms.transaction():
            rooms.execute("select pg_terminate_backend(%s)", [pid])


def test_no_secret_stands_in_a_function(rooms: Database) -> None:
    """A38: pg_proc.prosrc is open to everyone."""
    with acting(rooms, "anon"):
        sources = rooms.column("select prosrc from pg_proc where prolang <> 12 and prolang <> 13")
    pattern = re.compile(
        r"(password|passwd|secret|api[_-]?key|bearer|token)\s*(:=|=>?|,)\s*'[^']{6,}'|eyJ[\w-]{10,}\.",
        re.I,
    )
    assert [found[0] for source in sources if (found := pattern.search(source))] == []


@pytest.mark.parametrize("caller", [ALICE, BOB], ids=lambda one: one.name)
def test_copy_is_filtered_too(caller: Estate, rooms: Database) -> None:
    """A30."""
    with acting(rooms, "authenticated", caller.claims), rooms.cursor() as cursor:
        with cursor.copy("copy lenses.workflows (title) to stdout") as copy:
            rows = b"".join(bytes(part) for part in copy).decode().splitlines()
        assert rows == [caller.secret]
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege),
            rooms.transaction(),
            cursor.copy("copy lenses.workflows (title) from stdin"),
        ):
            pass
