"""What health and the metrics say of deliveries."""

from __future__ import annotations

import pytest

from tests.delivery.conftest import URL, Post
from tests.delivery.sender import REFUSED


def lines(post: Post) -> dict[str, tuple[str, str]]:
    rows = post.db.rows(
        "select * from lenses.fn_health() where check_name like 'delivery %' or check_name = 'pg_net'"
    )
    return {row.check_name: (row.state, row.label) for row in rows}


def test_nothing_where_nothing_is_delivered(post: Post) -> None:
    assert lines(post) == {}


def test_one_that_works(post: Post) -> None:
    post.delivered_to()
    assert lines(post) == {"delivery default": ("ok", "ok"), "pg_net": ("warn", "OPEN")}


def test_an_extension_that_is_missing(post: Post) -> None:
    post.delivered_to()
    post.db.execute("drop schema net cascade")
    assert lines(post) == {"delivery default": ("bad", "CANNOT POST")}


def test_a_secret_that_is_missing(post: Post) -> None:
    post.set(url=URL, secret_name="lost")
    assert lines(post)["delivery default"] == ("bad", "NO SECRET")
    advice = post.db.value("select advice from lenses.fn_health_deliveries() where state = 'bad'")
    assert advice.startswith("select lenses.fn_set_delivery_secret('lost', ")


def test_an_endpoint_that_fails(post: Post) -> None:
    post.delivered_to(max_in_flight=5)
    for _ in range(5):
        post.run()
    post.beat()
    post.net.send(lambda _request: REFUSED)
    post.beat()
    assert lines(post)["delivery default"] == ("bad", "FAILING")


def test_dead_letters_and_who_does_not_claim(post: Post) -> None:
    post.set(name="watch", sends=["run.failed"])
    post.emit()
    assert lines(post) == {"delivery watch": ("ok", "ok")}
    post.db.execute("update lenses.outbox set created_at = now() - interval '2 hours'")
    assert lines(post) == {"delivery watch": ("warn", "waiting")}
    post.db.execute("update lenses.outbox set dead_at = now()")
    assert lines(post) == {"delivery watch": ("bad", "1 dead letters")}
    advice = post.db.value("select advice from lenses.fn_health_deliveries() where state = 'bad'")
    post.db.execute(advice.split("then: ")[1])
    assert lines(post)["delivery watch"][1] != "1 dead letters"


@pytest.mark.parametrize(
    ("name", "labels", "value"),
    [
        ("deliveries", {"delivery": "watch", "outcome": "delivered"}, 3),
        ("deliveries", {"delivery": "watch", "outcome": "failed"}, 2),
        ("delivery_failures", {"delivery": "watch"}, 1),
        ("outbox_events", {"delivery": "watch", "state": "waiting"}, 1),
        ("outbox_events", {"delivery": "watch", "state": "dead"}, 0),
        ("outbox_dropped", {"delivery": "watch"}, 7),
    ],
)
def test_metrics(name: str, labels: dict[str, str], value: int, post: Post) -> None:
    post.set(name="watch", sends=["run.failed"])
    post.emit()
    post.db.execute(
        "update lenses.deliveries set delivered = 3, failed = 2, failures = 1, dropped = 7"
    )
    found = post.db.rows("select * from lenses.fn_metrics() where name = %s", [name])
    assert value in [row.value for row in found if row.labels == labels]
