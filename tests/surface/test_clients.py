"""The clients that people have, against the RPCs, through the stand-in for PostgREST."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.database import Database
from tests.support.postgrest import serving, token
from tests.support.setups import AUTHENTICATOR, Setup
from tests.support.tenants import ALICE, BOB, Estate
from tests.surface.clients import NodeClient, PythonClient, Reply

Client = PythonClient | NodeClient


@pytest.fixture(scope="module")
def desk(setup: Setup) -> Iterator[Database]:
    with setup.database() as conn:
        yield conn


@pytest.fixture(scope="module", params=[PythonClient, NodeClient], ids=lambda kind: kind.name)
def client(request: pytest.FixtureRequest, setup: Setup, desk: Database) -> Iterator[Client]:
    with serving(setup.dsn(desk.dbname, AUTHENTICATOR)) as url:
        one = request.param(url)
        yield one
        one.close()


def jwt(who: Estate | str | None, role: str = "authenticated") -> str:
    sub = who.user if isinstance(who, Estate) else who
    return token({"role": role, **({"sub": sub} if sub else {})})


def succeeded(reply: Reply, status: int = 200) -> Any:
    assert reply.code is None, reply
    assert reply.status in (None, status)
    return reply.data


def refused(reply: Reply, code: str, status: int) -> str:
    assert reply.code == code, reply
    assert reply.status in (None, status)
    assert reply.message
    return reply.message


def test_a_schedule_from_first_to_last(client: Client) -> None:
    """Upsert, list, preview, pause, resume, history, delete."""
    mine, schedule = jwt(ALICE), str(uuid.uuid4())
    wanted = {
        "p_workflow_id": ALICE.workflow,
        "p_schedule_id": schedule,
        "p_cron_expr": "0 9 * * 1-5",
        "p_timezone": "Europe/Istanbul",
        "p_inputs_template": {"topic": "news", "depth": [1, 2]},
    }
    made = succeeded(client.call(mine, "fn_upsert_workflow_schedule", wanted))
    assert (made["id"], made["lenser_id"]) == (schedule, ALICE.lenser)
    assert made["inputs_template"] == {"topic": "news", "depth": [1, 2]}
    again = succeeded(client.call(mine, "fn_upsert_workflow_schedule", wanted))
    assert again["id"] == schedule

    listed = succeeded(
        client.call(mine, "fn_workflow_get_schedules", {"p_workflow_id": ALICE.workflow})
    )
    assert {row["id"] for row in listed} == {schedule, ALICE.schedule}

    by_id = {"p_schedule_id": schedule}
    shown = succeeded(client.call(mine, "fn_get_workflow_schedule", by_id))
    assert shown["id"] == schedule
    ticks = succeeded(client.call(mine, "fn_preview_schedule_ticks", {**by_id, "p_n": 3}))
    assert len(ticks) == 3
    assert ticks[0].keys() == {"tick_at", "decision", "reason", "inputs"}
    next_run = succeeded(client.call(mine, "fn_cron_preview", {
        "p_cron_expr": "0 9 * * 1-5", "p_timezone": "Europe/Istanbul", "p_n": 1,
    }, get=True))  # fmt: skip
    assert next_run == [ticks[0]["tick_at"]] == [made["next_run_at"]]

    paused = succeeded(client.call(mine, "fn_pause_workflow_schedule", {**by_id, "p_note": "wait"}))
    assert (paused["is_active"], paused["pause_note"]) == (False, "wait")
    assert succeeded(client.call(mine, "fn_preview_schedule_ticks", by_id)) == []
    resumed = succeeded(client.call(mine, "fn_resume_workflow_schedule", by_id))
    assert resumed["is_active"] is True
    run = succeeded(client.call(mine, "fn_run_workflow_schedule_now", by_id))
    assert run["status"] == "pending_approval"
    history = succeeded(client.call(mine, "fn_get_schedule_run_history", by_id))
    assert [row["run_id"] for row in history] == [run["id"]]
    decided = succeeded(
        client.call(
            mine, "fn_decide_workflow_run", {"p_run_id": run["id"], "p_decision": "approved"}
        )
    )
    assert decided["status"] == "pending"
    assert succeeded(client.call(mine, "fn_delete_workflow_schedule", by_id), 204) in (None, "", [])


def test_defaults_scalars_sets_and_nothing(client: Client) -> None:
    mine = jwt(ALICE)
    english = succeeded(client.call(mine, "fn_cron_describe", {"p_cron_expr": "0 9 * * 1-5"}))
    assert english == "At 09:00, Monday through Friday"
    assert (
        len(
            succeeded(
                client.call(
                    mine, "fn_cron_preview", {"p_cron_expr": "* * * * *", "p_timezone": "UTC"}
                )
            )
        )
        == 5
    )
    assert [w["id"] for w in succeeded(client.call(mine, "fn_get_workflows", {}))] == [
        ALICE.workflow
    ]
    one = succeeded(client.call(mine, "fn_get_workflows", {}, single=True))
    assert one["title"] == ALICE.secret


@pytest.mark.parametrize(
    ("who", "name", "arguments", "code", "status"),
    [
        (ALICE, "fn_upsert_workflow_schedule", {"p_workflow_id": ALICE.workflow, "p_cron_expr": "61 * * * *"}, "22023", 400),
        (ALICE, "fn_cron_describe", {"p_cron_expr": "@daily"}, "22023", 400),
        (ALICE, "fn_pause_workflow_schedule", {"p_schedule_id": BOB.schedule}, "42501", 403),
        (ALICE, "fn_pause_workflow_schedule", {"p_schedule_id": str(uuid.uuid4())}, "42501", 403),
        (ALICE, "fn_pause_workflow_schedule", {"p_schedule_id": "no uuid"}, "22P02", 400),
        (ALICE, "fn_dispatch_tick", {}, "42501", 403),
        (ALICE, "fn_delete_schedule_calendar", {"p_calendar_id": ALICE.calendar}, "23503", 409),
        (
            ALICE,
            "fn_create_schedule_calendar",
            {"p_name": ALICE.name, "p_kind": "skip_dates", "p_timezone": "UTC", "p_dates": ["2031-01-01"]},
            "23505",
            409,
        ),
        (ALICE, "fn_no_such_function", {}, "PGRST202", 404),
        (ALICE, "fn_get_workflows", {"p_unknown": 1}, "PGRST202", 404),
        (None, "fn_get_workflows", {}, "42501", 403),
        ("99999999-0000-4000-8000-000000000000", "fn_get_workflows", {}, "42501", 403),
        ("x' or 1=1 --", "fn_get_workflows", {}, "42501", 403),
    ],
)  # fmt: skip
def test_errors_are_answers(
    who: Estate | str | None,
    name: str,
    arguments: dict[str, Any],
    code: str,
    status: int,
    client: Client,
) -> None:
    refused(client.call(jwt(who), name, arguments), code, status)


def test_a_hint_reaches_the_user(client: Client) -> None:
    reply = client.call(jwt(ALICE), "fn_cron_describe", {"p_cron_expr": "@daily"})
    assert "@daily" in (reply.message or "")
    assert reply.hint


def test_without_a_token(client: Client) -> None:
    refused(client.call(None, "fn_get_workflows", {}), "42501", 401)


def test_a_forged_token(client: Client) -> None:
    forged = jwt(ALICE)[:-4] + "AAAA"
    refused(client.call(forged, "fn_get_workflows", {}), "PGRST301", 401)


def test_writing_by_get(client: Client) -> None:
    """GET is read-only; what only reads is STABLE, so POST is read-only for it too."""
    wanted = {"p_schedule_id": ALICE.schedule}
    refused(client.call(jwt(ALICE), "fn_pause_workflow_schedule", wanted, get=True), "25006", 405)
    assert succeeded(client.call(jwt(ALICE), "fn_get_workflow_schedule", wanted, get=True))


def test_each_sees_his_own_through_one_pool(client: Client) -> None:
    for who in (ALICE, BOB, ALICE, BOB):
        listed = succeeded(client.call(jwt(who), "fn_get_workflows", {}))
        assert [w["lenser_id"] for w in listed] == [who.lenser]
        assert (BOB if who is ALICE else ALICE).secret not in json.dumps(listed)


def test_an_executors_work(client: Client, desk: Database) -> None:
    """service_role claims, beats, completes; its answer is the owner's to read."""
    service = jwt(None, "service_role")
    mine = jwt(BOB)
    desk.execute(  # of the two the stricter holds
        """update agents.workflow_assignments set approval_policy = '{"requiresApproval": false}' where id = %s""",
        [BOB.assignment],
    )
    succeeded(client.call(mine, "fn_patch_workflow_schedule", {
        "p_schedule_id": BOB.schedule, "p_patch": {"approval_policy": {"requiresApproval": False}},
    }))  # fmt: skip
    run = succeeded(
        client.call(mine, "fn_run_workflow_schedule_now", {"p_schedule_id": BOB.schedule})
    )
    claimed = succeeded(
        client.call(service, "fn_claim_workflow_runs", {"p_worker_id": "w", "p_limit": 50})
    )
    assert run["id"] in {row["id"] for row in claimed}
    beat = {"p_run_id": run["id"], "p_worker_id": "w", "p_lease": "00:10:00"}
    assert succeeded(client.call(service, "fn_heartbeat_workflow_run", beat)) is True
    done = {
        "p_run_id": run["id"],
        "p_worker_id": "w",
        "p_result": {"ok": True},
        "p_spent_credits": 1.5,
    }
    assert succeeded(client.call(service, "fn_complete_workflow_run", done)) is True
    assert succeeded(client.call(service, "fn_complete_workflow_run", done)) is False
    history = succeeded(
        client.call(
            mine, "fn_get_schedule_run_history", {"p_schedule_id": BOB.schedule, "p_limit": 1}
        )
    )
    assert (history[0]["status"], history[0]["result"]) == ("completed", {"ok": True})
    assert isinstance(succeeded(client.call(service, "fn_dispatch_tick", {})), int)
    refused(
        client.call(
            service, "fn_decide_workflow_run", {"p_run_id": run["id"], "p_decision": "approved"}
        ),
        "42501",
        403,
    )
