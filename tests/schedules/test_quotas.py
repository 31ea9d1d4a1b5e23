"""Quotas of a lenser: each setting, on each path, for two sessions at the limit; NULL is none."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.callers import Caller
from tests.support.database import Database, Tenant, as_user, wait_until

NO_APPROVAL = {"requiresApproval": False}
QUOTAS = (
    "max_schedules_per_lenser",
    "max_gateway_crons_per_lenser",
    "max_pending_runs_per_lenser",
    "max_template_bytes_per_lenser",
)


def limit(operator: Caller, setting: str, value: int | None) -> None:
    operator.one("fn_set_dispatch_settings", patch={setting: value})


def gateway(caller: Caller) -> uuid.UUID:
    return caller.one("fn_upsert_gateway", name=f"g {uuid.uuid4()}").id


def assert_says(found: Any, setting: str, value: int) -> None:
    """The message names the limit, the detail the setting, the hint the way out."""
    assert found.sqlstate == "53400", f"{found.sqlstate}: {found.message_primary}"
    assert str(value) in found.message_primary
    assert setting in found.message_detail
    assert setting in found.message_hint


class Path:
    """A way to take one more of what a quota holds, by RPC, by INSERT, and by COPY."""

    def __init__(self, caller: Caller, setting: str) -> None:
        self.caller, self.setting, self.db = caller, setting, caller.db
        self.workflow = caller.workflow().id
        self.gateway = gateway(caller)
        self.seed = caller.schedule(
            self.workflow, approval_policy=NO_APPROVAL, inputs_template="{}"
        ).id

    def rpc(self, db: Database | None = None) -> None:
        caller = Caller(db or self.db, self.caller.tenant)
        match self.setting:
            case "max_schedules_per_lenser":
                caller.schedule(self.workflow)
            case "max_gateway_crons_per_lenser":
                caller.one("fn_gateway_cron_add", gateway_id=self.gateway,
                    operation="health_probe", cron_expr="0 * * * *")  # fmt: skip
            case "max_pending_runs_per_lenser":
                caller.one("fn_run_workflow_schedule_now", schedule_id=self.seed)
            case _:
                caller.schedule(self.workflow, inputs_template='{"a": "' + "x" * 100 + '"}')

    def insert(self, n: int = 1, db: Database | None = None) -> None:
        """By service_role, past the RPCs."""
        table, columns, values = self._row()
        with as_user(db or self.db, None, "service_role") as conn:
            conn.execute(
                f"insert into {table} ({columns}) "
                f"select {', '.join(['%s'] * len(values))} from generate_series(1, {n})",
                values,
            )

    def copy(self, n: int = 1) -> None:
        """By whom row security does not hold, or COPY is refused."""
        table, columns, values = self._row()
        with (
            self.db.cursor() as cursor,
            cursor.copy(f"copy {table} ({columns}) from stdin") as copy,
        ):
            for _ in range(n):
                copy.write_row(values)

    def _row(self) -> tuple[str, str, list[Any]]:
        match self.setting:
            case "max_schedules_per_lenser":
                return ("lenses.workflow_schedules", "workflow_id, cron_expr, inputs_template",
                    [self.workflow, "0 9 * * *", Jsonb({})])  # fmt: skip
            case "max_gateway_crons_per_lenser":
                return ("agents.gateway_crons", "gateway_id, operation, cron_expr, payload",
                    [self.gateway, "health_probe", "0 * * * *", Jsonb({})])  # fmt: skip
            case "max_pending_runs_per_lenser":
                return ("lenses.workflow_runs", "workflow_id, policies",
                    [self.workflow, Jsonb({"approval_policy": NO_APPROVAL})])  # fmt: skip
            case _:
                return ("lenses.workflow_schedules", "workflow_id, cron_expr, inputs_template",
                    [self.workflow, "0 9 * * *", Jsonb({"a": "x" * 100})])  # fmt: skip

    def room_for(self, operator: Caller, n: int) -> int:
        """Sets the limit so that n more are allowed; returns it."""
        used = {
            "max_schedules_per_lenser": 1, "max_gateway_crons_per_lenser": 0,
            "max_pending_runs_per_lenser": 0, "max_template_bytes_per_lenser": 2,
        }[self.setting]  # fmt: skip
        one = 109 if self.setting == "max_template_bytes_per_lenser" else 1
        limit(operator, self.setting, used + n * one or 1)
        return used + n * one


@pytest.fixture(params=QUOTAS)
def path(request: pytest.FixtureRequest, alice: Caller) -> Path:
    return Path(alice, request.param)


def refused(db: Database, what: Callable[[], None]) -> Any:
    with pytest.raises(psycopg.Error) as caught, db.transaction():
        what()
    return caught.value.diag


def test_every_path_is_held(path: Path, operator: Caller, bob: Caller) -> None:
    cap = path.room_for(operator, 3)
    path.rpc()
    path.insert()
    path.copy()
    for what in (path.rpc, path.insert, path.copy, lambda: path.insert(5), lambda: path.copy(5)):
        assert_says(refused(path.db, what), path.setting, cap)
    Path(bob, path.setting).rpc()
    limit(operator, path.setting, None)
    assert getattr(operator.db.row("select * from lenses.dispatch_settings"), path.setting) is None
    for what in (path.rpc, path.insert, path.copy):
        what()
    assert path.db.rows("select * from lenses.fn_invariant_violations()") == []


def test_many_at_once_are_counted_together(path: Path, operator: Caller) -> None:
    cap = path.room_for(operator, 3)
    assert_says(refused(path.db, lambda: path.copy(4)), path.setting, cap)
    path.copy(3)


def test_two_sessions_at_the_limit(path: Path, operator: Caller, committed: None) -> None:
    """The second waits for the first, and is refused once that has committed."""
    cap = path.room_for(operator, 1)
    found: list[Any] = []
    with path.db.another() as other:
        pid = other.info.backend_pid

        def second() -> None:
            try:
                path.insert(db=other)
            except psycopg.Error as error:
                found.append(error.diag)

        thread = threading.Thread(target=second)
        with path.db.transaction():
            path.insert()
            thread.start()
            with path.db.another() as watcher:
                wait_until(
                    lambda: (
                        watcher.value(
                            "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s",
                            [pid],
                        )
                        or found
                    )
                )
            assert not found
        thread.join()
    assert_says(found[0], path.setting, cap)


def test_what_goes_makes_room(path: Path, operator: Caller) -> None:
    path.room_for(operator, 1)
    path.insert()
    refused(path.db, path.rpc)
    match path.setting:
        case "max_gateway_crons_per_lenser":
            path.caller.rows("fn_gateway_cron_remove",
                cron_id=path.db.value("select id from agents.gateway_crons"))  # fmt: skip
        case "max_pending_runs_per_lenser":
            path.db.execute("update lenses.workflow_runs set status = 'cancelled'")
        case _:
            newest = path.db.value(
                "select id from lenses.workflow_schedules where id <> %s", [path.seed]
            )
            path.caller.rows("fn_delete_workflow_schedule", schedule_id=newest)
    path.rpc()


def test_a_deleted_workflow_gives_its_schedules_back(alice: Caller, operator: Caller) -> None:
    path = Path(alice, "max_schedules_per_lenser")
    path.room_for(operator, 0)
    refused(path.db, path.rpc)
    alice.one("fn_set_workflow_status", workflow_id=path.workflow, status="deleted")
    alice.schedule()


@pytest.mark.parametrize("setting", QUOTAS)
@pytest.mark.parametrize("value", [0, -1, "5", 1.5], ids=str)
def test_bad_quotas(operator: Caller, setting: str, value: Any) -> None:
    operator.refused("22023", "fn_set_dispatch_settings", patch={setting: value})


@pytest.mark.parametrize("setting", QUOTAS)
def test_a_quota_that_is_not_named_stays(operator: Caller, setting: str) -> None:
    limit(operator, setting, 77)
    row = operator.one("fn_set_dispatch_settings", patch={"batch_size": 5})
    assert getattr(row, setting) == 77


def test_bytes_follow_every_edit(alice: Caller, operator: Caller) -> None:
    """Templates, rotations, conditions, payloads: what grows is refused, what shrinks is not."""
    key = alice.schedule().id
    cron = alice.one("fn_gateway_cron_add", gateway_id=gateway(alice),
        operation="health_probe", cron_expr="0 * * * *").id  # fmt: skip
    limit(operator, "max_template_bytes_per_lenser", 500)
    big = {"a": "x" * 600}
    tries = [
        lambda: alice.one("fn_patch_workflow_schedule", schedule_id=key, patch={"inputs_template": big}),
        lambda: alice.one("fn_set_schedule_inputs_rotation", schedule_id=key, rotation=Jsonb([big])),
        lambda: alice.one("fn_set_schedule_condition", schedule_id=key, condition={"/a": {"eq": "x" * 600}}),
        lambda: alice.one("fn_gateway_cron_update", cron_id=cron, payload=big),
    ]  # fmt: skip
    for grow in tries:
        assert_says(refused(alice.db, grow), "max_template_bytes_per_lenser", 500)
    alice.one(
        "fn_patch_workflow_schedule", schedule_id=key, patch={"inputs_template": {"a": "x" * 400}}
    )
    limit(operator, "max_template_bytes_per_lenser", 100)
    alice.one(
        "fn_patch_workflow_schedule", schedule_id=key, patch={"inputs_template": {"a": "x" * 300}}
    )
    alice.one("fn_patch_workflow_schedule", schedule_id=key, patch={"cron_expr": "1 2 3 4 5"})
    assert alice.db.rows("select * from lenses.fn_invariant_violations()") == []


@pytest.mark.parametrize("is_dry", [False, True], ids=["in earnest", "dry run"])
def test_a_backfill_is_refused_as_a_whole(alice: Caller, operator: Caller, is_dry: bool) -> None:
    key = alice.schedule(cron_expr="0 * * * *", approval_policy=NO_APPROVAL).id
    limit(operator, "max_pending_runs_per_lenser", 5)
    found = alice.refused("53400", "fn_backfill_schedule", schedule_id=key, dry_run=is_dry,
        since=alice.db.value("select now() - interval '10 hours'"))  # fmt: skip
    assert_says(found, "max_pending_runs_per_lenser", 5)
    assert alice.db.value("select count(*) from lenses.workflow_runs") == 0


def test_a_tenant_sees_his_own_usage(
    alice: Caller, bob: Caller, tenant: Callable[..., Tenant]
) -> None:
    alice.schedule()
    bob.schedule()
    with as_user(alice.db, alice.tenant, "authenticated") as conn:
        rows = conn.execute("select * from lenses.lenser_usage").fetchall()
    assert isinstance(alice.tenant, Tenant)
    assert [(row.lenser_id, row.schedules) for row in rows] == [(alice.tenant.id, 1)]
