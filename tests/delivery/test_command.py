"""lf-sql delivery: what an operator sees and sets, and never a secret."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.delivery.conftest import URL, with_net
from tests.delivery.sender import REFUSED, SECRET, Sender, answering
from tests.support.command import Command, commander
from tests.support.database import Database, wait_until


@pytest.fixture
def lf(
    db: Database, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    return commander(capsys, monkeypatch, db.dsn)


@pytest.fixture
def net(db: Database) -> Sender:
    """Installed, with the stand-in of pg_net."""
    return Sender(with_net(db))


@pytest.fixture
def sending(net: Sender) -> Iterator[list[Any]]:
    """What comes is answered by the first of the list, in a thread."""
    endpoint = [answering(200)]
    stop = threading.Event()

    def work() -> None:
        with net.db.another() as conn:
            sender = Sender(conn)
            while not stop.wait(0.02):
                sender.send(lambda request: endpoint[0](request))

    thread = threading.Thread(target=work)
    thread.start()
    yield endpoint
    stop.set()
    thread.join()


def test_from_the_first_to_the_last(
    lf: Command, net: Sender, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lf("delivery", "list", "--json").json == []
    lf("delivery", "set", "d", "--url", URL, "--secret-name", "key", "--timeout", "2s")
    said = lf(
        "delivery", "set", "d", "--header", "Authorization: Bearer hush", "--send", "run.failed"
    )
    assert 'the secret "key" is not there' in said.err
    (row,) = lf("delivery", "list", "--json").json
    assert (row["url"], row["sends"], row["timeout_ms"]) == (URL, ["run.failed"], 2000)
    assert (row["secret"], row["header_names"]) == ("missing", ["Authorization"])
    monkeypatch.setenv("LF_SQL_WEBHOOK_SECRET", SECRET)
    row = lf("delivery", "set", "d", "--store-secret", "--inactive", "--json").json
    assert (row["secret"], row["is_active"], row["sends"]) == ("set", False, ["run.failed"])
    for shown in ((), ("--json",)):
        text = lf("delivery", "list", *shown).out
        assert SECRET not in text
        assert "hush" not in text
    row = lf("delivery", "set", "d", "--secret-name", "none", "--header", "none", "--json").json
    assert (row["secret"], row["header_names"]) == (None, [])
    assert "--yes" in lf("delivery", "delete", "d", code=2).err
    lf("delivery", "delete", "d", "--yes")
    assert lf("delivery", "list", "--json").json == []


def test_wrong_use(lf: Command, net: Sender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LF_SQL_WEBHOOK_SECRET", raising=False)
    for words, said in (
        (("set", "d", "--url", "ftp://x"), "not an http or https address"),
        (("set", "d", "--url", URL, "--store-secret"), "LF_SQL_WEBHOOK_SECRET"),
        (("set", "d", "--url", URL, "--header", "hush"), "NAME: VALUE is wanted"),
        (("set", "d", "--url", URL, "--secret-name", " "), "--secret-name"),
        (("set", "d", "--url", URL, "--max-in-flight", "0"), "max_in_flight"),
        (("delete", "nobody", "--yes"), 'no delivery "nobody"'),
        (("test", "nobody"), 'no delivery "nobody"'),
    ):
        assert said in lf("delivery", *words, code=2).err, words
    assert lf("delivery", "list", "--json").json == []


def test_a_test_goes_the_way_of_all_events(lf: Command, net: Sender, sending: list[Any]) -> None:
    """And one that failed is no dead letter, and is not sent again."""
    lf("delivery", "set", "d", "--url", URL)
    found = lf("delivery", "test", "d", "--wait", "1h", "--json").json
    assert found["status"] == "delivered"
    sending[0] = answering(500)
    found = lf("delivery", "test", "d", "--wait", "1h", "--json", code=1).json
    assert (found["status"], found["error"]) == ("failed", "the endpoint answered 500")
    sending[0] = lambda _request: REFUSED
    assert "Couldn't connect" in lf("delivery", "test", "d", "--wait", "1h", code=1).out
    assert net.db.value("select count(*) from lenses.outbox") == 0


def test_a_test_that_cannot_be_sent_says_why(lf: Command, net: Sender) -> None:
    lf("delivery", "set", "d", "--url", URL, "--secret-name", "key")
    found = lf("delivery", "test", "d", "--wait", "1h", "--json", code=1).json
    assert 'the secret "key" is not there' in found["error"]
    lf("freeze", "moving house")
    found = lf("delivery", "test", "d", "--wait", "1h", "--json", code=1).json
    assert "frozen: moving house" in found["error"]
    assert "lf-sql unfreeze" in found["error"]
    lf("unfreeze")
    lf("delivery", "set", "quiet", "--send", "run.failed")
    found = lf("delivery", "test", "quiet", "--wait", "1ms", "--json", code=1).json
    assert found["error"] == "no answer"
    assert net.db.value("select count(*) from lenses.outbox") == 0


def test_a_consumer_acknowledges_a_test(lf: Command, net: Sender) -> None:
    lf("delivery", "set", "chat", "--send", "run.failed")
    done: list[Any] = []
    thread = threading.Thread(
        target=lambda: done.append(lf("delivery", "test", "chat", "--wait", "1h", "--json").json)
    )
    thread.start()
    wait_until(lambda: net.db.value("select count(*) from lenses.outbox") == 1)
    (event,) = net.db.rows("select * from lenses.fn_claim_events('chat', 'w')")
    assert event.payload["type"] == "delivery.test"
    net.db.execute("select lenses.fn_ack_events('w', %s)", [[event.id]])
    thread.join()
    assert done[0]["status"] == "delivered"


def test_delivered_is_said_of_what_was_delivered_alone(lf: Command, net: Sender) -> None:
    lf("delivery", "set", "chat", "--send", "run.failed")
    ask = "select lenses.fn_test_delivery('chat', %s)"
    for never in (4711, net.db.value("select lenses.fn_test_delivery('chat')")["id"]):
        net.db.execute("delete from lenses.outbox")
        with pytest.raises(psycopg.errors.InvalidParameterValue, match=f"test {never}"):
            net.db.value(ask, [never])
    sent = net.db.value("select lenses.fn_test_delivery('chat')")["id"]
    net.db.execute("select * from lenses.fn_claim_events('chat', 'w')")
    net.db.execute("select lenses.fn_ack_events('w', %s)", [[sent]])
    for _ in range(2):
        assert net.db.value(ask, [sent])["status"] == "delivered"
