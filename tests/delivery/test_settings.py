"""fn_set_delivery: who may, what it takes, what it gives back."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.delivery.conftest import URL, Post
from tests.delivery.sender import SECRET
from tests.support.database import as_user

OK = {"url": URL}


def test_a_patch_changes_what_it_names(post: Post) -> None:
    row = post.set(url=URL)
    assert (row.name, row.sends, row.max_in_flight, row.is_active) == (
        "default",
        ["runs"],
        50,
        True,
    )
    post.set(max_in_flight=3, headers={"X-A": "b"})
    row = post.set(secret_name="s", sends=["runs", "run.failed"])
    assert (row.url, row.max_in_flight, row.headers) == (URL, 3, {"X-A": "b"})
    assert row == post.delivery()
    assert post.set(secret_name=None).secret_name is None
    assert post.db.value("select count(*) from lenses.deliveries") == 1


def test_what_counts_is_not_set_back(post: Post) -> None:
    post.set(url=URL)
    post.db.execute("update lenses.deliveries set delivered = 7, failures = 2")
    post.set(max_in_flight=3)
    assert (post.delivery().delivered, post.delivery().failures) == (7, 2)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"max_inflight": 3, **OK}, 'unknown key "max_inflight"; the nearest is "max_in_flight"'),
        ({"delivered": 3, **OK}, 'unknown key "delivered"'),
        ({"sends": ["run.fail"], **OK}, 'the nearest is "run.failed"'),
        ({"sends": [], **OK}, "sends is empty"),
        ({"sends": ["runs"]}, "has no url"),
        ({"url": "ftp://example.com"}, "not an http or https address"),
        ({"url": "file:///etc/passwd"}, "not an http or https address"),
        ({"url": "https://user:pass@example.com"}, "not an http or https address"),
        ({"url": "https://example.com/a b"}, "not an http or https address"),
        ({"url": "https://example.com/\nX: y"}, "not an http or https address"),
        ({"url": "https:///x"}, "not an http or https address"),
        ({"url": 7}, "must be a string"),
        ({"headers": {"X\r\nY": "z"}, **OK}, "not a header"),
        ({"headers": {"X": "a\r\nHost: b"}, **OK}, "not a header"),
        ({"headers": {"X": 1}, **OK}, "not a header"),
        ({"headers": {"webhook-signature": "v1,x"}, **OK}, "set by the request itself"),
        ({"headers": {"CONTENT-TYPE": "text/plain"}, **OK}, "set by the request itself"),
        ({"headers": {"Traceparent": "00-1-1-01"}, **OK}, "set by the request itself"),
        ({"headers": ["a"], **OK}, "must be an object"),
        ({"headers": None, **OK}, "must be an object"),
        ({"max_in_flight": 0, **OK}, "the nearest allowed is 1"),
        ({"max_in_flight": None, **OK}, "a whole number"),
        ({"lease_ms": 30000, **OK}, "no more than timeout_ms"),
        ({"name": " ", **OK}, "delivery.name"),
        ({"name": "a\nb", **OK}, "delivery.name"),
        ({"workflow_id": "x", **OK}, "not a uuid"),
        ({"secret_name": "", **OK}, "delivery.secret_name is empty"),
        ({"secret_name": " ", **OK}, "delivery.secret_name is empty"),
        ([], "must be a JSON object"),
        (None, "must be a JSON object"),
    ],
)
def test_bad_input_changes_nothing(patch: Any, message: str, post: Post) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=message), post.db.transaction():
        post.db.execute(
            "select lenses.fn_set_delivery(%s)", [None if patch is None else Jsonb(patch)]
        )
    assert post.db.value("select count(*) from lenses.deliveries") == 0


def test_an_unknown_workflow(post: Post) -> None:
    with (
        pytest.raises(psycopg.errors.ForeignKeyViolation, match="no workflow"),
        post.db.transaction(),
    ):
        post.set(url=URL, workflow_id="11111111-2222-3333-4444-555555555555")


@pytest.mark.parametrize("secret", ["", "hunter2", SECRET.removeprefix("whsec_"), "whsec_AAAA"])
def test_what_is_no_secret_is_refused_and_not_repeated(secret: str, post: Post) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught, post.db.transaction():
        post.db.execute("select lenses.fn_set_delivery_secret('key', %s)", [secret])
    assert not secret or secret not in str(caught.value)


def test_nobody_reads_a_secret_back(post: Post) -> None:
    post.delivered_to()
    for role in ("anon", "authenticated", "service_role"):
        for ask in (
            "select secret from lenses.delivery_secrets",
            "select lenses.fn_delivery_secret('key')",
            "select public.fn_set_delivery_secret('key', null)" if role != "service_role"
            else "delete from lenses.delivery_secrets",
        ):  # fmt: skip
            with (
                pytest.raises(psycopg.errors.InsufficientPrivilege),
                as_user(post.db, None, role) as conn,
            ):
                conn.execute(ask)


def test_it_can_be_taken_away(post: Post) -> None:
    post.set(name="watch", sends=["run.failed"])
    post.emit()
    post.db.execute("select lenses.fn_delete_delivery('watch')")
    assert post.db.value("select count(*) from lenses.outbox") == 0
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="watch"), post.db.transaction():
        post.db.execute("select lenses.fn_delete_delivery('watch')")
