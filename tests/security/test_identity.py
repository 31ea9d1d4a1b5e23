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
    claims: str, older: str, expected: str | None, two_tenants: Database
) -> None:
    assert who(two_tenants, claims, older) == expected


def test_it_is_not_immutable(two_tenants: Database) -> None:
    """The plan that A's call made answers B about B."""
    two_tenants.execute("set local plan_cache_mode = force_generic_plan")
    two_tenants.execute("prepare mine as select title from lenses.workflows")
    for caller in (ALICE, BOB, ALICE):
        with acting(two_tenants, "authenticated", caller.claims):
            assert two_tenants.column("execute mine") == [caller.secret]


def test_an_immutable_helper_would_show_another_his_rows(two_tenants: Database) -> None:
    two_tenants.execute("alter function lensers.get_auth_lenser_id() immutable")
    two_tenants.execute("set local plan_cache_mode = force_generic_plan")
    two_tenants.execute("prepare broken as select title from lenses.workflows")
    with acting(two_tenants, "authenticated", ALICE.claims):
        two_tenants.execute("execute broken")
    with acting(two_tenants, "authenticated", BOB.claims):
        assert two_tenants.column("execute broken") == [ALICE.secret]
    two_tenants.execute("deallocate broken")


def test_a_plan_of_the_owner_is_not_a_tenants(two_tenants: Database) -> None:
    """CVE-2016-2193 and its kin: executed seven times as a superuser, then by a tenant."""
    two_tenants.execute(
        "prepare everything(int) as select title from lenses.workflows where version = $1"
    )
    for _ in range(7):
        assert len(two_tenants.column("execute everything(1)")) == 2
    for caller in (ALICE, BOB):
        with acting(two_tenants, "authenticated", caller.claims):
            assert two_tenants.column("execute everything(1)") == [caller.secret]
    two_tenants.execute("deallocate everything")


def test_a_cursor_of_anothers_transaction_is_gone(two_tenants: Database) -> None:
    with acting(two_tenants, "authenticated", ALICE.claims):
        two_tenants.execute("declare left_open cursor for select title from lenses.workflows")
    with pytest.raises(psycopg.errors.InvalidCursorName), two_tenants.transaction():
        two_tenants.execute("fetch all from left_open")


def test_claims_do_not_survive_a_transaction(own_two_tenants: Database) -> None:
    """A request through the same pooled connection that sets nothing is nobody."""
    with acting(own_two_tenants, "authenticated", ALICE.claims):
        assert own_two_tenants.value(HELPER) == ALICE.lenser
    with own_two_tenants.transaction():
        own_two_tenants.execute("set local role authenticated")
        assert own_two_tenants.value("select count(*) from lenses.workflows") == 0
    # the broken way: a setting of the session
    own_two_tenants.execute("select set_config('request.jwt.claims', %s, false)", [ALICE.claims])
    with own_two_tenants.transaction():
        own_two_tenants.execute("set local role authenticated")
        assert own_two_tenants.value("select count(*) from lenses.workflows") == 1


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
def test_other_sessions_are_not_seen(role: str, two_tenants: Database) -> None:
    """Whose statements they are is not the request roles' business."""
    with two_tenants.another() as other, acting(two_tenants, role, ALICE.claims):
        pid = other.info.backend_pid
        query = two_tenants.value("select query from pg_stat_activity where pid = %s", [pid])
        assert query == "<insufficient privilege>"
        with pytest.raises(psycopg.errors.InsufficientPrivilege), two_tenants.transaction():
            two_tenants.execute("select pg_terminate_backend(%s)", [pid])


def test_no_secret_stands_in_a_function(two_tenants: Database) -> None:
    """Pg_proc.prosrc is open to everyone."""
    with acting(two_tenants, "anon"):
        sources = two_tenants.column(
            "select prosrc from pg_proc where prolang <> 12 and prolang <> 13"
        )
    pattern = re.compile(
        r"(password|passwd|secret|api[_-]?key|bearer|token)\s*(:=|=>?|,)\s*'[^']{6,}'|eyJ[\w-]{10,}\.",
        re.I,
    )
    assert [found[0] for source in sources if (found := pattern.search(source))] == []


@pytest.mark.parametrize("caller", [ALICE, BOB], ids=lambda one: one.name)
def test_copy_is_filtered_too(caller: Estate, two_tenants: Database) -> None:
    with acting(two_tenants, "authenticated", caller.claims), two_tenants.cursor() as cursor:
        with cursor.copy("copy lenses.workflows (title) to stdout") as copy:
            rows = b"".join(bytes(part) for part in copy).decode().splitlines()
        assert rows == [caller.secret]
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege),
            two_tenants.transaction(),
            cursor.copy("copy lenses.workflows (title) from stdin"),
        ):
            pass
