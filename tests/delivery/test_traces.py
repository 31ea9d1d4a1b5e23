"""What the tick posts is part of its run's trace: the header traceparent, beside a signature that is as it was."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from lf_sql.traces import traceparent
from tests.delivery.conftest import URL, Post
from tests.delivery.posted import posted
from tests.delivery.sender import SECRET, answering
from tests.support.webhooks import verified


def test_each_attempt_has_a_parent_of_its_own_in_one_trace(post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    (first,) = post.net.send(answering(503))
    post.beat()
    post.late += timedelta(days=1)
    post.beat()
    (second,) = post.net.send()
    assert [request.headers["webhook-id"] for request in (first, second)] == [
        f"{run}:1",
        f"{run}:2",
    ]
    sent = [request.headers["traceparent"] for request in (first, second)]
    assert sent == [traceparent(run, 1), traceparent(run, 2)]
    assert verified(SECRET, first.body, first.headers) == first.json


def test_an_event_of_a_run_is_part_of_the_run(post: Post) -> None:
    post.delivered_to(name="watch", sends=["run.failed", "approval.waiting", "schedule.missed"])
    run = post.run(policies=post.policies(retry={"maxRetries": 0}))
    post.claim("x", 10)
    post.db.execute("select lenses.fn_fail_workflow_run(%s, 'x', 'no_paper', 'none', 0)", [run])
    waiting = UUID(int=7)
    post.emit("approval.waiting", run_id=str(waiting))
    post.emit("schedule.missed")
    post.beat()
    requests = {request.json["type"]: request for request in post.net.send()}
    found = {kind: request.headers.get("traceparent") for kind, request in requests.items()}
    assert found == {
        "run.failed": traceparent(run, 1),
        "approval.waiting": traceparent(waiting, 0),  # nobody has begun with it
        "schedule.missed": None,
    }
    assert {request.url for request in requests.values()} == {URL}
    for request in requests.values():
        assert verified(SECRET, request.body, request.headers) == request.json
