"""Answers that come late, twice or from a queue that was lost settle no run that they are not about."""

from __future__ import annotations

import pytest

from tests.delivery.conftest import Post, with_net
from tests.delivery.posted import LEASE, posted
from tests.delivery.sender import Answer, answering


def test_an_old_attempts_answer_settles_nothing(post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    (first,) = post.net.send(is_recorded=False)
    post.late = LEASE
    post.db.execute("select lenses.fn_reap_runs(%s)", [post.now])
    post.beat()
    post.net.record(first.id, Answer(200, '{"attempt": 1}'))
    post.beat()
    assert (post.row(run).status, post.row(run).attempt) == ("running", 2)
    post.net.send(answering(200, {"attempt": 2}))
    post.beat()
    assert post.row(run).metadata["result"] == {"attempt": 2}


def test_an_answer_is_fenced_by_the_attempt_not_by_time_alone(post: Post) -> None:
    """The run was given back and claimed by somebody else while the request was still under way."""
    post.delivered_to()
    run = posted(post)
    post.db.execute(
        "select lenses.fn_fail_workflow_run(%s, 'delivery:default', 'timeout', null, 0, 1)", [run]
    )
    (claimed,) = post.claim("delivery:default")
    assert (claimed.id, claimed.attempt) == (run, 2)
    post.net.send(answering(200, {"attempt": 1}))
    post.beat()
    assert post.row(run).status == "running"
    post.net.record(1, Answer(500))
    post.beat()
    assert post.row(run).status == "running"


def test_numbers_that_begin_anew_after_a_crash_settle_no_old_run(post: Post) -> None:
    post.delivered_to(max_in_flight=10)
    post.net.number(1)
    old = [posted(post), posted(post)]
    assert [request.id for request in post.net.send(is_recorded=False)] == [1, 2]
    post.net.crash()
    new = posted(post)
    (request,) = post.net.send(answering(200, {"of": "new"}))
    assert request.id == 1
    post.net.record(2, Answer(200, '{"of": "a stranger"}'))
    post.beat()
    assert post.row(new).metadata["result"] == {"of": "new"}
    assert [post.row(run).status for run in old] == ["running", "running"]


def test_a_number_used_again_belongs_to_the_newer_request(post: Post) -> None:
    post.delivered_to()
    old = posted(post)
    (lost,) = post.net.send(is_recorded=False)
    post.net.number(lost.id)
    new = posted(post)
    post.net.send(answering(200, {"of": "new"}))
    post.beat()
    assert post.row(new).metadata["result"] == {"of": "new"}
    assert post.row(old).status == "running"


@pytest.mark.parametrize(
    ("answer", "age"),
    [(Answer(200, "{}"), "1 hour"), (Answer(200, "{}", {"Webhook-Id": "another:1"}), "0")],
    ids=["older than the request", "names another request"],
)
def test_an_answer_that_is_not_the_requests_is_none(answer: Answer, age: str, post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    (request,) = post.net.send(is_recorded=False)
    post.net.record(request.id, answer, age)
    post.beat()
    assert post.row(run).status == "running"
    post.net.record(request.id, Answer(200, '{"is": "ours"}', {"webhook-id": f"{run}:1"}))
    post.beat()
    assert post.row(run).metadata["result"] == {"is": "ours"}


def test_a_queue_made_anew_answers_no_request_of_the_old(post: Post) -> None:
    post.delivered_to()
    run = posted(post)
    (request,) = post.net.send(is_recorded=False)
    post.db.execute("drop schema net cascade")
    with_net(post.db)
    post.net.record(request.id, Answer(200, "{}"))
    post.beat()
    assert post.row(run).status == "running"
