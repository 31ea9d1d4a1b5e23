"""Every granted function, called with values that nobody sane sends: an answer or a refusal that was promised,
in time, and nothing of anybody else's is touched."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.security.hostile import FUNCTIONS, Call, calls
from tests.security.rpcs import snapshot
from tests.support.database import Database
from tests.support.setups import Setup, acting
from tests.support.tenants import ALICE, BOB

DECLARED = {
    "22023": "bad input",
    "42501": "not the caller's, or unknown",
    "23503": "a calendar that is attached is not deleted",
    "23505": "there already",
    "53400": "as many as a lenser may have",
    "23502": "an operator's call without the name that its row is kept under",
}
A_CALL = 30_000  # ms, on a machine that does other things; what took more than a second is counted
TOGETHER = 20


def answer(conn: Database, call: Call) -> str | None:
    """Its SQLSTATE where it is refused; its effects stay, and so do other calls' of the transaction."""
    try:
        with conn.transaction():
            conn.execute(call.query, call.values)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return None


def besiege(conn: Database, role: str, examples: int) -> None:
    slow: list[tuple[float, str]] = []
    broken: dict[str, str] = {}
    made = 0
    theirs = snapshot(conn, BOB)

    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=examples < 1000,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],  # each call stands for itself: nothing to shrink
    )
    @given(st.lists(calls(conn, role), min_size=TOGETHER, max_size=TOGETHER))
    def sequence(together: list[Call]) -> None:
        nonlocal made
        claims = ALICE.claims if role == "authenticated" else None
        with acting(conn, role, claims):
            conn.execute(f"set local statement_timeout = {A_CALL}")
            for call in together:
                begun = time.monotonic()
                state = answer(conn, call)
                made += 1
                if time.monotonic() - begun > 1:
                    slow.append((time.monotonic() - begun, call.query))
                if state is not None and state not in DECLARED:
                    broken.setdefault(f"{state} {call.name}", f"{call.query} {call.values!r:.900}")
            conn.execute("set local role none")
            if role == "authenticated":
                assert snapshot(conn, BOB) == theirs
            assert conn.rows("select * from lenses.fn_invariant_violations()") == []

    sequence()
    print(f"{role}: {made} calls, {len(slow)} of more than a second")
    for seconds, query in sorted(slow, reverse=True)[:10]:
        print(f"  {seconds:.1f} s  {query}")
    for what, how in sorted(broken.items()):
        print(f"  {what}: {how}")
    assert broken.keys() == set()
    assert made >= examples * TOGETHER


@pytest.fixture(scope="module")
def besieged(setups: dict[str, Setup]) -> Iterator[Database]:
    """ALICE and BOB; what each example does is undone."""
    with setups["plain"].database() as conn:
        yield conn


@pytest.mark.parametrize("role", ["authenticated", "service_role"])
def test_some_calls(role: str, besieged: Database) -> None:
    besiege(besieged, role, 8)


@pytest.mark.slow
@pytest.mark.parametrize("role", ["authenticated", "service_role"])
def test_twenty_thousand_calls(role: str, besieged: Database) -> None:
    besiege(besieged, role, 1000 if role == "authenticated" else 250)


@pytest.mark.parametrize("instant", ["infinity", "-infinity"])
def test_no_instant_has_no_key(instant: str, besieged: Database) -> None:
    refused = pytest.raises(psycopg.errors.InvalidParameterValue, match="must be an instant")
    with refused, acting(besieged, "authenticated", ALICE.claims):
        besieged.execute("select lenses.fn_slot_key(%s, %s)", [ALICE.schedule, instant])


def test_a_tick_of_nobody_is_refused(besieged: Database) -> None:
    refused = pytest.raises(psycopg.errors.InvalidParameterValue, match="p_driver is missing")
    with refused, acting(besieged, "service_role"):
        besieged.execute("select lenses.fn_tick_begin(null)")


def test_every_function_is_called(besieged: Database) -> None:
    """Of what is granted nothing is left out, but the procedure that commits."""
    for role in ("authenticated", "service_role"):
        granted = {row.name for row in besieged.rows(FUNCTIONS, [role])}
        assert "fn_upsert_workflow_schedule" in granted or role == "service_role"
        assert len(granted) > 20
