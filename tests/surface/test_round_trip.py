"""`export --yaml` and `apply` of it is no change, whatever is there; a file that says all there is to say."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.command import Command
from tests.support.database import Database, Tenant, as_user
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")

WORDS = [
    "plain", "on", "no", "null", "~", "1e5", "007", "3.0", "1_000", "0x1F", "2026-12-24", "12:30:45", "a: b", "- x",
    "#tag", "two\nlines\n", " blank ", "", "ünï 🙂", "'", '"', "%", "@x", "*", "&a", "${HOME}", "\t", "\x85", "\x7f", "\u202eevil", "<<", "=", "|", "yes",
    "line \nwith blank", "\nfirst", "last\n\n", "\u2028", "{", "? x", "true", "TRUE", ".inf", "-", "---", "...",
]  # fmt: skip


def value(dice: random.Random, depth: int = 0) -> Any:
    """Any JSON."""
    kind = dice.randrange(9 if depth < 3 else 6)
    return (
        dice.choice(WORDS)
        if kind < 2
        else dice.choice([None, True, False, 0, -1, 1.5, 1e20, 1e-7, 123456789012, -0.0, 2.0])
        if kind < 6
        else [value(dice, depth + 1) for _ in range(dice.randrange(4))]
        if kind == 6
        else {dice.choice(WORDS) + str(n): value(dice, depth + 1) for n in range(dice.randrange(4))}
    )


def object_(dice: random.Random) -> dict[str, Any]:
    return {dice.choice(WORDS): value(dice) for _ in range(dice.randrange(4))}


def fill(db: Database, owner: Tenant, dice: random.Random, people_too: bool = True) -> None:
    """Schedules of every form, through the RPCs."""
    from psycopg.types.json import Jsonb as Json

    people = {
        kind: db.column(f"insert into agents.{table} (lenser_id, name) select %s, n from unnest(array['one', 'two', 'two', '']) as n returning id", [owner.id])
        for kind, table in (("agent", "ai_lensers"), ("team", "teams"))
    }  # fmt: skip
    with as_user(db, owner):
        seeds = db.column("select id from lenses.schedule_calendars")
        calendars = [
            db.value("select (public.fn_create_schedule_calendar(%s, %s, %s, %s::date[], null, %s)).id", [
                name, dice.choice(["skip_dates", "only_dates"]), "Europe/Rome", ["2026-12-24"] if n % 2 else [],
                Json([{"weekdays": ["SAT"]}, {"calendar": str(dice.choice(seeds))}, {"easter": -2, "except": [{"month_day": "04-01"}]}]),
            ])
            for n, name in enumerate(["one", "12", "on", "us-federal-holidays-2026"])
        ]  # fmt: skip
        calendars.append(db.value("select (public.fn_create_schedule_calendar('deep', 'skip_dates', null, null, null, %s)).id", [
            Json([{"calendar": str(calendars[0])}, {"calendar": str(calendars[3])}])]))  # fmt: skip
        calendars += seeds
        workflows = [
            db.value("select (public.fn_upsert_workflow(null, %s, %s, %s, %s)).id", [
                title, Json({"nodes": [{"id": "a", "config": value(dice)}], "edges": [], "x": value(dice)}),
                dice.choice(["workflow", "battle"]), dice.choice(["active", "paused", "deprecated"]),
            ])
            for title in ["one", "twice", "twice", "", "2026", "0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13", "on", " x "]
        ]  # fmt: skip
        for n in range(60):
            kind = dice.choice(["agent", "team"])
            what = dice.choice([
                {"cron_expr": dice.choice(["0 9 * * 1-5", "*/15 * * * *", "30 6 L * *", " 1  2 3 4 5 "])},
                {"interval_ms": dice.choice([300000, 5400000, 90061001, 86400000])},
                {"run_at": "2030-01-01T10:20:30Z", "schedule_type": "once"},
            ])  # fmt: skip
            rest = {
                "name": dice.choice([None, f"{dice.choice(WORDS)}{n}".replace("\n", "").replace("\t", "").replace("\x85", "").replace("\x7f", "")]),
                "description": dice.choice([None, "two words", "a: b # c"]),
                "timezone": dice.choice(["UTC", "Europe/Rome", "Asia/Kolkata"]),
                "jitter_ms": dice.choice([0, 1500, 3600000]),
                "is_active": dice.random() < 0.8,
                "assignee_type": kind,
                "assignee_id": dice.choice([None, *people[kind]]) if people_too else None,
                "approval_policy": Json(dice.choice([{"requiresApproval": False}, {"gates": ["a b"]}, {}])),
                "retry_policy": Json(dice.choice([{"maxRetries": 1}, {"maxRetries": 0, "backoffMs": 10}])),
                "failure_policy": Json(dice.choice([{"mode": "halt"}, {}])),
                "queue_policy": Json(dice.choice([{"mode": "serial", "onOverlap": "queue"}, {"priority": 3}])),
                "inputs_template": Json(object_(dice)),
                "inputs_rotation": Json(dice.choice([None, [], [value(dice), value(dice)]])),
                "calendar_id": dice.choice([None, *calendars]),
                "pre_dispatch_condition": Json(dice.choice([None, {}, {"/prior_run_result/status": {"eq": "completed"}}])),
                "global_model_id": dice.choice([None, "1.0"]),
                "workflow_version": dice.choice([None, 1]),
                "start_at": dice.choice([None, "2026-01-01T00:00:00.123456Z"]),
                "end_at": dice.choice([None, "2031-01-01T00:00:00+05:30"]),
            }  # fmt: skip
            if "cron_expr" in what and rest["calendar_id"] and "*/15" not in what["cron_expr"]:
                rest["on_holiday"] = dice.choice(["skip", "before", "after"])
            values = {**what, **rest, "workflow_id": dice.choice(workflows)}
            row = db.value(
                f"select (public.fn_upsert_workflow_schedule({', '.join(f'p_{k} => %({k})s' for k in values)})).id",
                values,
            )
            if dice.random() < 0.2:
                db.execute("select public.fn_pause_workflow_schedule(%s, 'x')", [row])


EVERYTHING = """
select s.id, s.xmin::text, s.next_run_at, s.due_at from lenses.workflow_schedules as s
union all select w.id, w.xmin::text, null, null from lenses.workflows as w
union all select c.id, c.xmin::text, null, null from lenses.schedule_calendars as c
order by 1
"""
CONTENT = """
select w.title, s.name, to_jsonb(s) - '{id,workflow_id,lenser_id,created_at,updated_at,next_run_at,due_at,calendar_id,
  cron_spec,paused_at,pause_note,is_active,project,assignee_type,missed_before}'::text[] as rest,
  (select c.name from lenses.schedule_calendars as c where c.id = s.calendar_id) as calendar
from lenses.workflow_schedules as s join lenses.workflows as w on w.id = s.workflow_id
where s.lenser_id = %s and s.name is not null and w.title not in ('', 'twice') and w.title !~ '^0b4e'
order by s.name collate "C"
"""


@pytest.mark.parametrize("seed", range(3))
def test_export_and_apply_is_no_change(
    lf: Command, file: File, db: Database, owner: Tenant, seed: int
) -> None:
    fill(db, owner, random.Random(seed))
    before = db.rows(EVERYTHING)
    name = file(lf("export", "--yaml").out)
    said = lf("diff", name, code=None)
    assert said.code == 0, said.out
    assert "\u202e" not in lf("export", "--yaml").out
    assert "nothing differs" in lf("apply", name).err
    assert db.rows(EVERYTHING) == before


def test_another_tenant_gets_the_same(
    lf: Command, file: File, db: Database, owner: Tenant, tenant: Callable[..., Tenant]
) -> None:
    fill(db, owner, random.Random(7), people_too=False)
    db.execute(
        "delete from lenses.workflow_schedules where name is null or workflow_id in (select id from lenses.workflows where title in ('', 'twice') or title like '0b4e%')"
    )
    db.execute("delete from lenses.workflows where title in ('', 'twice') or title like '0b4e%'")
    text = lf("export", "--yaml").out
    other = tenant("other")
    name = file(text.replace("tenant: owner", "tenant: other", 1))
    lf("apply", name)
    assert lf("diff", name).out == ""
    mine, theirs = db.rows(CONTENT, [owner.id]), db.rows(CONTENT, [other.id])
    assert len(mine) > 5
    assert theirs == mine
