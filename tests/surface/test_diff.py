"""`diff` refuses what `apply` refuses, and changes nothing."""

from __future__ import annotations

import pytest

from tests.support.command import Command
from tests.support.database import Database
from tests.surface.apply_base import BASE
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")

CYCLE = "edges: [{from: a, to: a}]"
TABLES = (
    "select c.oid::regclass::text from pg_class as c join pg_namespace as n on n.oid = c.relnamespace "
    "where c.relkind in ('r', 'p') and n.nspname in ('lenses', 'lensers', 'agents', 'lf_sql') order by 1"
)


def content(db: Database) -> dict[str, str]:
    """Every row of every table of ours."""
    return {
        table: db.value(
            f"select coalesce(string_agg(t::text || t.xmin::text, ';' order by t::text), '') from {table} as t"
        )
        for table in db.column(TABLES)
    }


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0 9 * * 1-5", "61 * * * *", "schedules.morning.cron: invalid cron"),
        ("every: 6h", "every: 4m", "schedules.later.every: "),
        ("timezone: Europe/Berlin\n        cal", "timezone: Nope\n        cal", "schedules.morning.timezone: "),
        ("timezone: Europe/Berlin\n    dates", "timezone: Nope\n    dates", "calendars.closing.timezone: "),
        ("      later:", '      "":', "must be 1 to 200 characters"),
        ("edges: []", CYCLE, "schedules.morning: cycle_detected: "),
        ("maxRetries: 2", "maxRetries: -1", "schedules.morning.retry.maxRetries: "),
    ],
)  # fmt: skip
def test_what_apply_refuses_diff_refuses(
    lf: Command, file: File, db: Database, old: str, new: str, said: str
) -> None:
    assert BASE.count(old) == 1
    name = file(BASE.replace(old, new))
    by_diff, by_apply = lf("diff", name, code=None), lf("apply", name, code=None)
    assert (by_diff.out, by_diff.err) == (by_apply.out, by_apply.err)
    assert (by_diff.code, by_apply.code) == (2, 1)  # 1 of diff says that something differs
    assert said in by_diff.err


def test_a_quota_is_told_before_it_is_met(lf: Command, file: File, db: Database) -> None:
    db.execute("select lenses.fn_set_dispatch_settings('{\"max_schedules_per_lenser\": 1}')")
    assert "a.yaml:15: schedules.later: " in lf("diff", file(BASE), code=2).err


def test_what_would_stay_is_told(lf: Command, file: File) -> None:
    lf("apply", file(BASE))
    lf("schedule", "create", "Nightly report", "--name", "by hand", "--cron", "0 1 * * *")
    empty = file("project: shop\n")
    by_diff = lf("diff", empty, "--prune", code=1)
    assert "workflow Nightly report stays: schedules that the project did not make" in by_diff.out
    assert lf("apply", empty, "--prune", "--yes").out == by_diff.out
    assert "nothing differs" in lf("diff", empty, "--prune").err


def test_nothing_is_changed(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    changed = BASE.replace("0 9 * * 1-5", "0 8 * * *").replace("      later:", "      new:")
    changed = changed.replace("2026-12-24", "2026-12-25").replace("{id: a}", "{id: b}")
    name = file(changed)
    before = content(db)
    lf("diff", name, "--prune", code=1)
    assert content(db) == before
    assert lf("diff", name, "--prune", code=1).out == lf("apply", name, "--prune", "--yes").out


def test_who_only_reads_sees_the_plan(lf: Command, file: File, db: Database) -> None:
    db.execute(
        "revoke execute on function public.fn_upsert_workflow from public, authenticated, service_role"
    )
    answer = lf("diff", file(BASE), code=1)
    assert "+ Nightly report" in answer.out
    assert "this connection only reads: whether apply is refused was not tried" in answer.err
    assert "4 to add" in answer.err
    assert "permission denied" in lf("apply", file(BASE), code=1).err
