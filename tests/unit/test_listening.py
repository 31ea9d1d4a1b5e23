"""Hosts as people write them: in brackets or not, and how a browser reaches them."""

from __future__ import annotations

import pytest

from lf_sql.console.security import allowed_hosts
from lf_sql.listening import bare, reached_at
from tests.support.cli import lf_sql


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[::1]", "::1"),
        ("::1", "::1"),
        ("[::]", "::"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
    ],
)
def test_an_address_may_stand_in_brackets(written: str, meant: str) -> None:
    assert bare(written) == meant


WRONG = ["[[::1]]", "::1]", "[::1", "[]", "[localhost]", "[127.0.0.1]", "[::1][::2]"]


@pytest.mark.parametrize("host", WRONG)
@pytest.mark.parametrize("command", ["console", "metrics"])
def test_other_brackets_are_wrong_use(host: str, command: str) -> None:
    wrong = ["--listen", f"{host}:0"] if command == "metrics" else ["--host", host, "--port", "0"]
    done = lf_sql(command, *wrong, dsn="host=127.0.0.1 port=1")
    assert done.returncode == 2
    assert f"{host!r} is no host" in done.stderr


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("::", "[::1]"),
        ("0:0::0", "[::1]"),
        ("0.0.0.0", "127.0.0.1"),
        ("::1", "[::1]"),
        ("0:0::2", "[::2]"),
        ("127.0.0.2", "127.0.0.2"),
        ("Desk.example.org", "Desk.example.org"),
    ],
)
def test_the_console_answers_to_the_host_of_its_link(host: str, shown: str) -> None:
    assert reached_at(host) == shown
    assert shown.lower() in allowed_hosts(host)
