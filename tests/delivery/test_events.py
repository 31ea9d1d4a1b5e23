"""The outbox: what goes into it, in which order it comes out, and what becomes of what cannot."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.delivery.conftest import URL, Post
from tests.delivery.sender import Answer, answering
from tests.support.database import wait_until
from tests.support.scenario import MONDAY

KINDS = [
    "run.failed", "run.timed_out", "schedule.missed", "schedule.halted", "approval.waiting",
    "schedule.dispatch_failed",
]  # fmt: skip
TRIED_ONCE = {"maxRetries": 0}


def watched(post: Post, **patch: Any) -> None:
    post.set(**{"name": "watch", "sends": KINDS, **patch})


def failed(post: Post, schedule: UUID | None = None, **columns: Any) -> UUID:
    run = post.run(schedule, **{"policies": post.policies(retry=TRIED_ONCE), **columns})
    post.claim("x", 10)
    post.db.execute(
        "select lenses.fn_fail_workflow_run(%s, 'x', 'provider_error', 'no route', 0)", [run]
    )
    return run


def test_a_failed_run_says_what_one_needs_to_mail(post: Post) -> None:
    watched(post)
    schedule = post.make_schedule(name="nightly", next_run_at=MONDAY)
    run = failed(post, schedule, scheduled_for=MONDAY, trigger_mode="manual")
    (event,) = post.take()
    assert event.event_type == "run.failed"
    assert event.payload["id"] == str(event.event_id)
    assert event.payload["type"] == "run.failed"
    assert event.payload["text"] == (
        "run.failed: nightly (report) slot 2027-03-01T09:00:00+00:00 provider_error no route"
    )
    assert event.payload["data"] == {
        "lenser_id": str(post.tenant.id),
        "workflow_id": str(post.workflow),
        "workflow_title": "report",
        "schedule_id": str(schedule),
        "schedule_name": "nightly",
        "run_id": str(run),
        "scheduled_for": "2027-03-01T09:00:00+00:00",
        "trigger_mode": "manual",
        "attempt": 1,
        "cause": "provider_error",
        "error": "no route",
    }


def test_a_run_that_is_tried_again_has_not_failed(post: Post) -> None:
    watched(post)
    failed(post, policies=post.policies(retry={"maxRetries": 1}))
    assert post.kinds() == []


def test_a_run_that_times_out(post: Post) -> None:
    watched(post)
    post.run(policies=post.policies(retry=TRIED_ONCE))
    post.claim("dead")
    post.db.execute("select lenses.fn_reap_runs(%s)", [post.now + timedelta(hours=1)])
    assert post.kinds() == ["run.timed_out"]
    assert post.events()[0].payload["data"]["cause"] == "timeout"


def test_a_halted_schedule_follows_its_failed_run(post: Post) -> None:
    watched(post)
    failed(
        post, post.make_schedule(),
        policies=post.policies(retry=TRIED_ONCE, failure={"mode": "halt"}),
    )  # fmt: skip
    assert post.kinds() == ["run.failed", "schedule.halted"]
    assert "halted: run" in post.events()[1].payload["data"]["error"]


def test_slots_that_were_missed(post: Post) -> None:
    watched(post)
    post.make_schedule("*/5 * * * *", name="m")
    post.tick(MONDAY - timedelta(minutes=1))
    post.tick(MONDAY + timedelta(hours=1))
    (event,) = post.events()
    data = event.payload["data"]
    assert (event.event_type, data["count"]) == ("schedule.missed", 12)
    assert (data["first"], data["last"]) == (
        "2027-03-01T09:00:00+00:00", "2027-03-01T09:55:00+00:00",
    )  # fmt: skip


def test_slots_that_a_pause_dropped(post: Post) -> None:
    watched(post)
    schedule = post.make_schedule(
        "* * * * *", next_run_at=post.now - timedelta(hours=1), is_active=False
    )
    post.db.execute(
        "update lenses.workflow_schedules set is_active = true where id = %s", [schedule]
    )
    logged = post.db.value(
        "select count(*) from agents.action_logs where payload ->> 'reason' = 'missed'"
    )
    assert post.kinds() == ["schedule.missed"] * logged


def test_a_run_that_waits_for_its_owner(post: Post) -> None:
    watched(post)
    schedule = post.make_schedule("0 9 * * *", approval_policy={"requiresApproval": True})
    post.tick(MONDAY)
    (event,) = post.events()
    assert event.event_type == "approval.waiting"
    assert event.payload["data"]["schedule_id"] == str(schedule)
    run = post.db.value("select id from lenses.workflow_runs")
    assert event.payload["data"]["run_id"] == str(run)


def test_a_run_that_waits_again(post: Post) -> None:
    run = post.run(needs_approval=True, status="pending_approval")
    post.db.execute("set local role lf_sql_engine")
    post.db.execute(
        "update agents.team_runs set approval_status = 'approved' where workflow_run_id = %s", [run]
    )
    post.db.execute("update lenses.workflow_runs set status = 'pending' where id = %s", [run])
    post.db.execute("reset role")
    watched(post)
    post.db.execute("set local role service_role")
    post.db.execute(
        "update lenses.workflow_runs set context_inputs = '{\"other\": 1}' where id = %s", [run]
    )
    post.db.execute("reset role")
    assert post.row(run).status == "pending_approval"
    assert post.kinds() == ["approval.waiting"]


def test_a_dispatch_that_fails(post: Post) -> None:
    watched(post)
    post.make_schedule("0 9 * * *")
    post.db.execute(
        "create function public.poison() returns trigger language plpgsql as "
        "$$ begin raise exception 'poisoned'; end $$; "
        "create trigger poison before insert on lenses.workflow_runs for each row "
        "execute function public.poison()"
    )
    for minutes in (0, 1, 3, 7, 15):
        post.tick(MONDAY + timedelta(minutes=minutes))
    post.db.execute("drop trigger poison on lenses.workflow_runs")
    data = [event.payload["data"] for event in post.events()]
    assert post.kinds() == ["schedule.dispatch_failed"] * 5
    assert [d["attempt"] for d in data] == [1, 2, 3, 4, 5]
    assert [d["is_given_up"] for d in data] == [False] * 4 + [True]
    assert "poisoned" in data[0]["error"]


def test_what_nobody_asks_for_is_not_kept(post: Post) -> None:
    watched(post, sends=["run.timed_out"])
    watched(post, name="asleep", is_active=False)
    watched(post, name="other workflow", workflow_id=str(post.make_workflow()))
    failed(post)
    assert post.db.value("select count(*) from lenses.outbox") == 0


def test_each_who_asks_gets_it_under_one_id(post: Post) -> None:
    watched(post)
    watched(post, name="two", workflow_id=str(post.workflow))
    failed(post)
    assert [e.event_id for e in post.events()] == [e.event_id for e in post.events("two")]


def test_it_goes_with_what_it_tells_of(post: Post) -> None:
    watched(post)
    with pytest.raises(ZeroDivisionError), post.db.transaction():
        failed(post)
        raise ZeroDivisionError
    assert post.kinds() == []


def test_of_one_schedule_one_at_a_time_in_order(post: Post) -> None:
    watched(post)
    one, two = post.make_schedule(), post.make_schedule()
    for schedule, n in ((one, 1), (one, 2), (two, 3), (one, 4), (None, 5), (None, 6)):
        post.emit(schedule=schedule, n=n)

    def numbers(events: list[Any]) -> list[int]:
        return [event.payload["data"]["n"] for event in events]

    taken = post.take()
    assert numbers(taken) == [1, 3, 5, 6]
    assert post.take(worker="another") == []
    assert post.ack(taken[0].id, taken[2].id) == [taken[0].id, taken[2].id]
    assert numbers(post.take(worker="another")) == [2]
    post.fail_event(taken[1].id)
    assert post.take() == []  # 4 is behind 2, and 3 waits


def test_what_is_not_acknowledged_comes_again(post: Post) -> None:
    watched(post)
    post.emit()
    (first,) = post.take(worker="dead")
    post.db.execute("update lenses.outbox set lease_expires_at = now()")
    (second,) = post.take(worker="alive")
    assert (second.id, second.attempt, second.event_id) == (first.id, 2, first.event_id)
    assert post.ack(first.id, worker="dead") == []
    assert not post.fail_event(first.id, worker="dead")
    assert post.ack(first.id, worker="alive") == [first.id]


def test_a_failed_one_waits_longer_each_time_and_is_a_dead_letter_in_the_end(post: Post) -> None:
    watched(post, max_attempts=3)
    schedule = post.make_schedule()
    post.emit(schedule=schedule, n=1)
    post.emit(schedule=schedule, n=2)
    pauses = []
    for _ in range(3):
        (event,) = post.take()
        assert post.fail_event(event.id, "mail server away")
        row = post.events()[0]
        pauses.append((row.available_at - post.db.value("select now()")).total_seconds())
        post.db.execute("update lenses.outbox set available_at = now()")
    for n, pause in enumerate(pauses):
        assert 0.75 <= pause / (30 * 2**n) <= 1.25
    dead, _ = post.events()
    assert dead.dead_at is not None
    assert dead.last_error == "mail server away"
    assert [event.payload["data"]["n"] for event in post.take()] == [2]
    assert post.db.value("select lenses.fn_retry_dead_events('watch')") == 1
    assert post.events()[0].attempt == 0


def test_an_event_whose_last_lease_ends_is_a_dead_letter(post: Post) -> None:
    watched(post, max_attempts=1)
    post.emit()
    post.take()
    post.late = timedelta(minutes=6)
    post.beat()
    assert post.events()[0].dead_at is not None
    assert post.events()[0].last_error == "no answer before the lease ended"


def test_the_oldest_give_way(post: Post) -> None:
    watched(post, max_events=3)
    for n in range(5):
        post.emit(n=n)
    post.beat()
    assert [e.payload["data"]["n"] for e in post.events() if e.dead_at] == [0, 1]
    for n in range(5, 9):
        post.emit(n=n)
    while post.beat():
        pass
    assert [e.payload["data"]["n"] for e in post.events() if e.dead_at] == [3, 4, 5]
    assert [e.payload["data"]["n"] for e in post.events() if not e.dead_at] == [6, 7, 8]
    assert post.delivery("watch").dropped == 3


def test_old_ones_go_with_the_history(post: Post) -> None:
    watched(post)
    post.emit()
    assert (
        post.db.value("select lenses.fn_purge_history_batch(now() + interval '89 days', 100)") == 0
    )
    assert (
        post.db.value("select lenses.fn_purge_history_batch(now() + interval '91 days', 100)") > 0
    )
    assert post.events() == []


def test_posted_events(post: Post) -> None:
    watched(post, url=URL, max_attempts=2)
    schedule = post.make_schedule()
    post.emit(schedule=schedule, n=1)
    post.emit(schedule=schedule, n=2)
    post.beat()
    (request,) = post.net.send(answering(204))
    assert request.json == post.events()[0].payload
    assert request.headers["webhook-id"] == str(post.events()[0].event_id)
    post.beat()
    assert [event.payload["data"]["n"] for event in post.events()] == [2]
    post.net.send(lambda _request: Answer(503, None, {"Retry-After": "600"}))
    post.beat()
    (event,) = post.events()
    assert event.last_error == "the endpoint answered 503"
    assert timedelta(minutes=9) < event.available_at - post.now <= timedelta(minutes=10)
    post.late = timedelta(minutes=11)
    post.beat()
    post.net.send(is_recorded=False)
    post.late = timedelta(minutes=17)
    post.beat()
    assert post.events()[0].dead_at is not None


@pytest.mark.parametrize("status", [200, 503])
def test_a_posted_events_late_answer_counts_for_its_attempt_only(status: int, post: Post) -> None:
    watched(post, url=URL)
    post.emit()
    post.beat()
    (first,) = post.net.send(is_recorded=False)
    assert post.fail_event(post.events()[0].id, worker="delivery:watch")
    post.db.execute("update lenses.outbox set available_at = null")
    post.beat()
    assert post.events()[0].attempt == 2
    post.net.record(first.id, Answer(status))
    post.beat()
    assert post.events()[0].lease_expires_at is not None
    post.net.send()
    post.beat()
    assert post.events() == []


@pytest.mark.usefixtures("committed")
def test_who_listens_is_woken(post: Post) -> None:
    watched(post)
    with post.db.another() as listener:
        listener.execute("listen lf_events")
        failed(post)
        woken = wait_until(
            lambda: next(listener.notifies(timeout=0.05, stop_after=1), None), what="lf_events"
        )
    assert (woken.channel, woken.payload) == ("lf_events", "")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("fn_claim_events('nobody', 'w')", 'there is no delivery "nobody"'),
        ("fn_claim_events('watch', '')", "p_worker_id"),
        ("fn_claim_events('watch', 'w', -1)", "p_limit"),
        ("fn_claim_events('watch', 'w', 1, '2 days')", "p_lease"),
        ("fn_fail_event(1, 'w', '', '2 days')", "p_retry_after"),
        ("fn_fail_event(1, 'w', '', '-1 second')", "p_retry_after"),
        ("fn_fail_event(1, 'w', '', '12 months -359 days')", "p_retry_after"),
        ("fn_ack_events('w', array_fill(1, array[1001]))", "1001"),
    ],
)
def test_calls_that_make_no_sense(call: str, message: str, post: Post) -> None:
    watched(post)
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=message), post.db.transaction():
        post.db.execute(f"select lenses.{call}".encode())
