"""What the answers say was spent is booked, whatever has become of the attempt meanwhile."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

import pytest

from tests.delivery.conftest import Post
from tests.delivery.sender import Answer, answering

LEASE = timedelta(minutes=5)
STATUSES = [200, 200, 202, 404, 429, 500]
FATES = ["in time", "cancelled", "taken", "reaped", "late"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_booked_is_what_was_spent_at_whatever_end(seed: int, post: Post) -> None:
    """The answer comes in time; after a cancel; after somebody else has the run; after the lease,
    before or after the run was reaped."""
    chance = random.Random(seed)
    post.delivered_to(max_in_flight=100)
    spent: dict[UUID, Decimal] = defaultdict(Decimal)
    policies = post.policies(retry={"maxRetries": 2})
    runs = [post.run(policies=policies) for _ in range(30)]
    for _ in range(3):
        post.beat()
        posted = post.net.send(is_recorded=False)
        fates = {request.id: chance.choice(FATES) for request in posted}
        for request in posted:
            run = UUID(request.json["id"])
            if fates[request.id] == "cancelled":
                post.cancel(run)
            elif fates[request.id] == "taken":
                post.fail(run, worker="delivery:default")
        if any(fate in ("reaped", "late") for fate in fates.values()):
            answer(
                post, chance, [r for r in posted if fates[r.id] not in ("reaped", "late")], spent
            )
            post.beat()
            post.late += LEASE
            late = [r for r in posted if fates[r.id] == "late"]
            answer(post, chance, late, spent)
            post.set(is_active=False)
            post.beat()
            post.db.execute("select lenses.fn_reap_runs(%s)", [post.now])
            answer(post, chance, [r for r in posted if fates[r.id] == "reaped"], spent)
            post.beat()
            post.set(is_active=True)
        else:
            answer(post, chance, posted, spent)
    post.set(is_active=False)
    post.beat()
    assert {run: post.row(run).spent_credits for run in runs} == {run: spent[run] for run in runs}
    assert any(spent.values())


def answer(post: Post, chance: random.Random, requests: list, spent: dict[UUID, Decimal]) -> None:
    for request in requests:
        credits = Decimal(chance.randint(0, 30_000)) / 10_000
        spent[UUID(request.json["id"])] += credits
        post.net.record(
            request.id, Answer(chance.choice(STATUSES), f'{{"spent_credits": {credits}}}')
        )


def test_after_a_while_no_answer_is_waited_for(post: Post) -> None:
    post.delivered_to()
    post.run(policies=post.policies())
    post.beat()
    post.net.send(is_recorded=False)
    post.late = LEASE
    post.beat()
    assert post.db.value("select count(*) from lenses.delivery_requests") == 1
    post.late += timedelta(minutes=10)
    post.beat()
    assert post.db.value("select count(*) from lenses.delivery_requests") == 0


def test_what_is_late_takes_no_place(post: Post) -> None:
    post.delivered_to(max_in_flight=1)
    first, second = (post.run(policies=post.policies(), priority=p) for p in (1, 0))
    post.beat()
    post.net.send(is_recorded=False)
    post.late = LEASE
    post.beat()
    assert [post.row(run).status for run in (first, second)] == ["running", "running"]
    (request,) = post.net.send(answering(200))
    assert request.json["id"] == str(second)
