"""Runs posted by the tick's job: what goes out, and what an answer means."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from tests.delivery.conftest import URL, Post
from tests.delivery.posted import LEASE, RETRY, posted
from tests.delivery.sender import REFUSED, TIMEOUT, Answer, answering
from tests.support.database import Database
from tests.support.retry_after import ASKS, NOW
from tests.support.scenario import MONDAY
from tests.support.work import due_in


def test_the_body_is_what_a_claim_gives(post: Post) -> None:
    post.delivered_to(headers={"Authorization": "Bearer x"}, timeout_ms=1234)
    run = posted(post, context_inputs={"report": "daily"})
    (request,) = post.net.send()
    assert (request.url, request.timeout) == (URL, 1234)
    assert request.headers["Authorization"] == "Bearer x"
    assert request.headers["Content-Type"] == "application/json"
    body = request.json
    assert (body["id"], body["attempt"], body["worker_id"]) == (str(run), 1, "delivery:default")
    assert body["context_inputs"] == {"report": "daily"}
    assert body["definition"] == {"nodes": [], "edges": []}


# What the endpoint answers · what becomes of the run after one attempt and, where it is tried again, why.
ANSWERS = [
    (Answer(200, '{"rows": 3}'), "completed", None),
    (Answer(200, '{"a": [1, {"b": null}]}'), "completed", None),
    (Answer(202, "later"), "running", None),
    (Answer(200, '{"rows": '), "failed", "contract_violated"),
    (Answer(200, "[1]"), "failed", "contract_violated"),
    (Answer(200, None), "failed", "contract_violated"),
    (Answer(200, '{"a": "\\u0000"}'), "failed", "contract_violated"),
    (Answer(200, '{"a": "' + "x" * 1048577 + '"}'), "failed", "contract_violated"),
    (Answer(200, "[" * 20000), "failed", "contract_violated"),
    (Answer(201, "{}"), "failed", "contract_violated"),
    (Answer(302, ""), "failed", "contract_violated"),
    (Answer(400, "{}"), "failed", "contract_violated"),
    (Answer(404, None), "failed", "contract_violated"),
    (Answer(408, None), "pending", "timeout"),
    (TIMEOUT, "pending", "timeout"),
    (REFUSED, "pending", "provider_error"),
    (Answer(425, None), "pending", "rate_limit"),
    (Answer(429, None), "pending", "rate_limit"),
    (Answer(500, "oops"), "pending", "provider_error"),
    (Answer(503, None), "pending", "provider_error"),
]


@pytest.mark.parametrize(("answer", "status", "cause"), ANSWERS)
def test_answers(answer: Answer, status: str, cause: str | None, post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    post.net.send(lambda _request: answer)
    post.set(is_active=False)  # an answer that is there is read all the same
    post.beat()
    row = post.row(run)
    assert row.status == status
    assert row.metadata.get("last_failure", {}).get("cause") == cause
    if status == "completed":
        assert row.metadata["result"] == json.loads(answer.content or "")
    if cause and answer.status:
        assert str(answer.status) in row.metadata["last_failure"]["error"]


def test_an_answer_that_another_try_would_get_again_is_tried_where_the_policy_names_it(
    post: Post,
) -> None:
    post.delivered_to()
    run = post.run(policies=post.policies(retry={**RETRY, "retryOn": ["contract_violated"]}))
    post.beat()
    post.net.send(answering(404))
    post.set(is_active=False)
    post.beat()
    assert post.row(run).status == "pending"


@pytest.mark.parametrize(
    ("header", "pause"),
    [({"Retry-After": "90"}, 90), ({"retry-after": "120"}, 120), ({"Retry-After": "9999999"}, 86400),
     ({"Retry-After": "9" * 30}, 86400), ({"Retry-After": "-5"}, None),
     ({"Retry-After": "soon"}, None), ({}, None)],
)  # fmt: skip
def test_retry_after_is_kept(header: dict[str, str], pause: int | None, post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    post.net.send(answering(429, headers=header))
    post.beat()
    before = post.db.value("select now()")
    after = post.row(run).available_at
    if pause is None:
        assert after is None
    else:
        assert timedelta(0) <= after - before - timedelta(seconds=pause) < timedelta(minutes=1)


def test_retry_after_is_read_as_lf_sql_runs_deliver_does(shared_db: Database) -> None:
    header = "jsonb_build_object('Retry-After', %s::text)"
    ask = f"select extract(epoch from lenses.fn_retry_after({header}, %s))"
    shared_db.execute("set timezone = 'Asia/Tokyo'; set datestyle = 'SQL, MDY'")
    try:
        found = {text: shared_db.value(ask, [text, NOW]) for text in ASKS}
    finally:
        shared_db.execute("reset timezone; reset datestyle")
    assert found == ASKS


@pytest.mark.parametrize(
    ("answer", "limit", "status", "cause", "spent"),
    [
        (Answer(200, '{"spent_credits": 1.5}'), 2, "completed", None, "1.5"),
        (Answer(500, '{"spent_credits": 1.5}'), 2, "pending", "provider_error", "1.5"),
        (Answer(200, '{"spent_credits": 2.5}'), 2, "failed", "budget_exceeded", "2.5"),
        (Answer(200, '{"spent_credits": -1}'), 2, "completed", None, "0"),
        (Answer(200, '{"spent_credits": "9"}'), 2, "completed", None, "0"),
        (Answer(200, '{"spent_credits": 1e30}'), None, "completed", None, "0"),
    ],
)
def test_what_an_answer_has_spent_is_booked(
    answer: Answer, limit: int | None, status: str, cause: str | None, spent: str, post: Post
) -> None:
    post.delivered_to()
    limits = {"limits": {"spending_limit_credits": limit}} if limit else {}
    run = post.run(policies={**post.policies(retry=RETRY), **limits})
    post.beat()
    post.net.send(lambda _request: answer)
    post.set(is_active=False)
    post.beat()
    row = post.row(run)
    assert (row.status, row.spent_credits) == (status, Decimal(spent))
    assert row.metadata.get("last_failure", {}).get("cause") == cause


def test_an_answer_of_202_leaves_the_run_to_the_endpoint(post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    (request,) = post.net.send(answering(202))
    post.beat()
    body = request.json
    assert post.db.value(
        "select lenses.fn_complete_workflow_run(%s, %s, '{}', 0, %s)",
        [run, body["worker_id"], body["attempt"]],
    )


def test_what_is_lost_is_tried_again_when_the_lease_ends(post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    post.net.send(is_recorded=False)
    post.beat()
    assert post.row(run).status == "running"
    post.late = LEASE
    post.db.execute("select lenses.fn_reap_runs(%s)", [post.now])
    assert post.row(run).metadata["last_failure"]["cause"] == "timeout"
    post.beat()
    (request,) = post.net.send()
    assert request.headers["webhook-id"] == f"{run}:2"
    post.beat()
    assert post.row(run).status == "completed"


def test_no_more_in_flight_than_said(post: Post) -> None:
    post.delivered_to(max_in_flight=3)
    for _ in range(8):
        post.run()
    assert (post.beat(), post.beat()) == (3, 0)
    assert len(post.net.send()) == 3
    assert post.beat() == 6  # three answers, three posts


def test_an_endpoint_that_is_down_gets_one_request_at_a_time(post: Post) -> None:
    post.delivered_to(max_in_flight=5)
    for _ in range(20):
        post.run(policies=post.policies(retry={"maxRetries": 0}))
    sizes = []
    for endpoint in (lambda _r: REFUSED, lambda _r: REFUSED, lambda _r: REFUSED, answering(200)):
        post.beat()
        sizes.append(len(post.net.send(endpoint)))
    post.beat()
    assert sizes == [5, 1, 1, 1]
    assert len(post.net.send()) == 5
    assert post.delivery().failures == 0


def test_a_schedules_limit_holds(post: Post) -> None:
    post.delivered_to()
    schedule = post.make_schedule(queue_policy={"mode": "serial", "onOverlap": "queue"})
    runs = [post.run(schedule) for _ in range(3)]
    free = post.run()
    post.beat()
    assert [request.json["id"] for request in post.net.send()] == [str(runs[0]), str(free)]
    post.beat()
    assert [request.json["id"] for request in post.net.send()] == [str(runs[1])]


def test_by_priority_then_age(post: Post) -> None:
    post.delivered_to(max_in_flight=3)
    late = post.run(available_at=post.now + timedelta(hours=1))
    runs = [post.run(), post.run(priority=5), post.run(available_at=post.now), post.run()]
    post.beat()
    assert [request.json["id"] for request in post.net.send()] == [
        str(runs[1]), str(runs[0]), str(runs[2])
    ]  # fmt: skip
    assert post.row(late).status == "pending"


def test_runs_that_wait_for_approval_are_not_posted(post: Post) -> None:
    post.delivered_to()
    run = post.run(needs_approval=True, status="pending_approval")
    assert post.beat() == 0
    assert post.row(run).status == "pending_approval"


def test_a_workflow_goes_to_its_own_endpoint(post: Post) -> None:
    other = post.make_workflow(title="other")
    post.delivered_to()
    post.delivered_to(name="own", url="https://own.example.com", workflow_id=str(other))
    runs = {post.run(): URL, post.run(workflow_id=other): "https://own.example.com"}
    post.beat()
    assert {UUID(r.json["id"]): r.url for r in post.net.send()} == runs


def test_a_tick_posts_what_it_dispatches(post: Post) -> None:
    post.delivered_to()
    post.make_schedule("0 9 * * *")
    assert post.tick(MONDAY) == 1
    assert len(post.net.queue()) == 1


@pytest.mark.usefixtures("committed")
def test_so_does_a_driver_and_it_reads_the_answers(post: Post) -> None:
    post.delivered_to()
    due_in(post.db, post.make_schedule("0 9 * * *"), 0)
    post.db.execute("call lenses.sp_dispatch_tick()")
    assert len(post.net.send(answering(200, {"done": True}))) == 1
    post.db.execute("call lenses.sp_dispatch_tick()")
    assert post.db.column("select status from lenses.workflow_runs") == ["completed"]
    assert post.db.column("select note from lenses.dispatch_ticks where note <> ''") == []


def test_what_pg_net_refuses_keeps_no_answer_from_being_read(post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    post.net.send(answering(200, {"done": True}))
    post.db.execute("alter table net.http_request_queue add check (id < 2)")
    waiting = post.run()
    assert post.beat() == 1
    assert post.beat() == 0
    assert post.row(run).status == "completed"
    assert post.row(waiting).status == "pending"
    assert post.delivery().problem.startswith("23514: ")
    assert post.db.column(
        "select label from lenses.fn_health_deliveries() where state = 'bad'"
    ) == ["CANNOT POST"]
    post.db.execute(
        "alter table net.http_request_queue drop constraint http_request_queue_id_check"
    )
    assert post.beat() == 1
    assert post.delivery().problem is None


def test_frozen_is_silent(post: Post) -> None:
    post.delivered_to()
    run = post.run()
    post.db.execute("select lenses.fn_freeze_dispatch('test')")
    assert post.db.value("select lenses.fn_deliver()") == 0
    post.db.execute("select lenses.fn_unfreeze_dispatch()")
    assert post.db.value("select lenses.fn_deliver()") == 1
    assert post.row(run).status == "running"


@pytest.mark.usefixtures("committed")
@pytest.mark.parametrize(
    "held",
    [
        "lenses.workflow_schedules where id = %s",
        "lenses.schedule_due where schedule_id = %s",
        "lenses.workflow_runs where schedule_id = %s",
        "lenses.deliveries where %s is not null",
    ],
)
def test_it_waits_for_nobody(held: str, post: Post) -> None:
    post.delivered_to()
    schedule = post.make_schedule(next_run_at=MONDAY)
    run = posted(post, schedule_id=schedule)
    post.net.send(answering(200))
    post.db.execute("set lock_timeout = 1")
    with post.db.another() as other, other.transaction():
        other.execute(f"select from {held} for no key update".encode(), [schedule])
        assert post.beat() == 0
        assert post.row(run).status == "running"
    assert post.beat() == 1
    assert post.row(run).status == "completed"
