"""Figures of all cells, printed and served: a cell that is down is a figure, and holds nobody up."""

from __future__ import annotations

import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from lf_sql import metrics
from lf_sql.cells import figures
from lf_sql.db import Connection
from tests.cells.fleet import Fleet, down, environment
from tests.support.database import connect
from tests.support.processes import Process, running


@contextmanager
def listening(fleet: Fleet, *words: str) -> Iterator[tuple[Process, str]]:
    """The command that serves, and the address that it says."""
    command = ("cells", "metrics", "--listen", "127.0.0.1:0", *words)
    with running("", *command, env=environment(fleet)) as process:
        process.says("listening on http://127.0.0.1:")
        yield process, process.output.split("listening on ")[1].split()[0]


def scrape(url: str) -> str:
    with urllib.request.urlopen(url, timeout=120) as answer:
        return answer.read().decode()


def readdress(fleet: Fleet, name: str, conninfo: str) -> None:
    with connect(fleet.directory_dsn) as conn:
        conn.execute("update lf_fleet.cells set conninfo = %s where name = %s", [conninfo, name])


def is_up(text: str) -> dict[str, bool]:
    return {
        sample.labels["cell"]: sample.value == 1
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "lf_sql_cell_up"
    }


def test_figures_have_the_cell_as_a_label(fleet: Fleet) -> None:
    fleet.place("a")
    fleet.tick()
    with down(fleet, "b"):
        text = fleet.did("cells", "metrics")
    assert 'lf_sql_cell_up{cell="a"} 1.0' in text
    assert 'lf_sql_cell_up{cell="b"} 0.0' in text
    assert 'lf_sql_cell_tenants{cell="a"} 1.0' in text
    assert "lf_sql_fleet_moves_unfinished 0.0" in text
    families = list(text_string_to_metric_families(text))
    names = [family.name for family in families]
    assert len(names) == len(set(names))
    histograms = [family for family in families if family.type == "histogram"]
    assert histograms
    for family in histograms:
        for sample in family.samples:
            assert sample.labels["cell"] == "a"


def test_served_as_printed(fleet: Fleet) -> None:
    fleet.place("a")
    fleet.tick()
    with listening(fleet) as (process, url):
        served = scrape(url)
        printed = fleet.did("cells", "metrics")
        heads = [
            [line for line in text.splitlines() if line.startswith("#")]
            for text in (served, printed)
        ]
        assert heads[0] == heads[1]
        assert is_up(served) == {"a": True, "b": True}
        with down(fleet, "b"):
            assert is_up(scrape(url)) == {"a": True, "b": False}
        assert is_up(scrape(url)) == {"a": True, "b": True}
        fleet.add("c")
        assert is_up(scrape(url)) == {"a": True, "b": True, "c": True}
        assert process.stop() == 0
        assert process.output.endswith("stopped\n")


def test_one_cell_served(fleet: Fleet) -> None:
    with listening(fleet, "--cell", "b") as (process, url):
        assert is_up(scrape(url)) == {"b": True}
        process.signal(signal.SIGINT)
        assert process.ends() == 0
    done = fleet.lf("cells", "metrics", "--listen", "127.0.0.1:0", "--cell", "bb")
    assert done.returncode == 1
    assert "there is no cell 'bb'" in done.stderr


def test_a_cell_that_says_nothing_is_down_and_the_answer_comes(fleet: Fleet) -> None:
    """It takes connections and is silent, so that only the time-out ends it; longer than a client
    has for its request."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        readdress(fleet, "a", f"host=127.0.0.1 port={port} dbname=x user=x sslmode=disable")
        with listening(fleet) as (process, url):
            assert is_up(scrape(url)) == {"a": False, "b": True}
            assert process.stop() == 0


def test_a_signal_ends_it_while_a_cell_is_awaited(fleet: Fleet) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        address = f"host=127.0.0.1 port={port} dbname=x user=x connect_timeout=3600"
        readdress(fleet, "a", address)
        with listening(fleet) as (process, url):
            host, _, number = url.removeprefix("http://").removesuffix("/metrics").partition(":")
            with socket.create_connection((host, int(number))) as client:
                client.sendall(b"GET /metrics HTTP/1.0\r\n\r\n")
                silent.settimeout(120)
                awaited, _ = silent.accept()
                with awaited:
                    assert process.stop() == 0, process.output


def test_a_cell_that_stops_in_the_middle_is_down(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = metrics.samples

    def stuck(conn: Connection) -> list[dict[str, Any]]:
        if conn.info.dbname == fleet.databases["b"].dbname:
            conn.execute("set statement_timeout = 0; select pg_sleep(3600)")
        return whole(conn)

    monkeypatch.setattr(metrics, "samples", stuck)
    monkeypatch.setattr(figures, "PATIENCE", 1.0)
    with fleet.directory() as directory:
        cell = directory.cell("b")
        rows = figures.samples(directory, directory.cells())
    found = {r["labels"]["cell"]: r["value"] for r in rows if r["name"] == "lf_sql_cell_up"}
    assert found == {"a": 1, "b": 0}
    assert cell.conninfo not in [address for _, address in figures._late]


def test_who_waits_for_a_cell_without_end_is_one(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "LONGEST", 1.0)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        address = f"host=127.0.0.1 port={port} dbname=x user=x connect_timeout=3600"
        readdress(fleet, "a", address)
        with fleet.directory() as directory:
            for _ in range(3):
                rows = figures.samples(directory, [directory.cell("a")])
                assert {r["value"] for r in rows if r["name"] == "lf_sql_cell_up"} == {0}
        silent.settimeout(120)
        silent.accept()[0].close()
        silent.settimeout(0)
        with pytest.raises(BlockingIOError):
            silent.accept()


def test_without_the_directory_there_are_no_figures(fleet: Fleet) -> None:
    with listening(fleet) as (process, url), connect(fleet.directory_dsn) as conn:
        assert scrape(url)
        conn.execute("alter schema lf_fleet rename to elsewhere")
        with pytest.raises(urllib.error.HTTPError) as refused:
            scrape(url)
        assert refused.value.code == 503
        process.says("no figures: ")
        conn.execute("alter schema elsewhere rename to lf_fleet")
        assert is_up(scrape(url)) == {"a": True, "b": True}


@pytest.mark.parametrize("where", ["9187", "127.0.0.1:99999"])
def test_an_address_that_is_none(fleet: Fleet, where: str) -> None:
    done = fleet.lf("cells", "metrics", "--listen", where)
    assert done.returncode == 2
    assert "HOST:PORT" in done.stderr
    assert where in done.stderr
