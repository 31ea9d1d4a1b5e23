"""Who gets in: the link once, the session after it, our own forms only, our own host names only."""

from __future__ import annotations

import http.client
import re
import socket
import subprocess
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

import pytest

from tests.console.conftest import Console
from tests.support.database import Database, Tenant, as_user
from tests.support.processes import running


class Visitor:
    """A client that keeps its cookie, and no more."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.cookie = ""

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, str, http.client.HTTPMessage]:
        netloc = urlsplit(self.console.base).netloc
        connection = http.client.HTTPConnection(netloc, timeout=120)
        sent = {"Cookie": self.cookie} if self.cookie else {}
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, body, {**sent, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if cookie := answer.headers.get("set-cookie"):
            self.cookie = cookie.split(";")[0]
        return answer.status, text, answer.headers

    def enter(self) -> str:
        """Go in by the link; returns the CSRF token of the page."""
        parts = urlsplit(self.console.link)
        status, _, headers = self.ask(f"{parts.path}?{parts.query}")
        assert (status, headers["location"]) == (303, "/")
        status, text, _ = self.ask("/")
        assert status == 200
        found = re.search(r'"X-CSRF-Token": "([\w-]+)"', text)
        assert found
        return found[1]


@pytest.fixture
def visitor(console: Console) -> Visitor:
    return Visitor(console)


def test_the_link_works_once(console: Console, visitor: Visitor) -> None:
    assert visitor.ask("/")[0] == 401
    assert visitor.ask("/?token=wrong")[0] == 401
    visitor.enter()
    parts = urlsplit(console.link)
    assert Visitor(console).ask(f"{parts.path}?{parts.query}")[0] == 401
    assert visitor.ask(f"{parts.path}?{parts.query}")[0] == 303


def test_the_session_is_for_this_site_alone(visitor: Visitor, console: Console) -> None:
    parts = urlsplit(console.link)
    _, _, headers = visitor.ask(f"{parts.path}?{parts.query}")
    cookie = headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


@pytest.mark.parametrize("path", ["/", "/load", "/nothing", "/static/console.css"])
def test_every_answer_forbids_foreign_content(visitor: Visitor, path: str) -> None:
    visitor.enter()
    _, text, headers = visitor.ask(path)
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'self'")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert not re.search(r"<script(?![^>]* src=)|\sstyle=|\son\w+=", text)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"X-CSRF-Token": "wrong"}, 403),
        ({"Origin": "http://evil.example"}, 403),
    ],
)
def test_a_form_from_elsewhere_is_refused(
    db: Database, visitor: Visitor, headers: dict[str, str], status: int
) -> None:
    token = visitor.enter()
    if "Origin" in headers:
        headers = {**headers, "X-CSRF-Token": token}
    got, _, _ = visitor.ask("/gateways/save", "POST", "name=x", headers)
    assert got == status
    assert db.value("select count(*) from agents.gateways") == 0


def test_our_own_form_is_taken(db: Database, visitor: Visitor, console: Console) -> None:
    token = visitor.enter()
    headers = {"X-CSRF-Token": token, "Origin": console.base}
    status, _, answer = visitor.ask("/gateways/save", "POST", "name=eu-west&endpoint=", headers)
    assert status == 204
    made = db.row("select id, lenser_id from agents.gateways")
    assert answer["hx-redirect"] == f"/gateways/{made.id}"
    assert made.lenser_id == console.owner.id


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:1", "", "[::2]:80"])
def test_other_host_names_are_refused(visitor: Visitor, host: str) -> None:
    visitor.enter()
    assert visitor.ask("/", headers={"Host": host})[0] in (400, 421)


def test_inputs_are_bounded(visitor: Visitor) -> None:
    token = {"X-CSRF-Token": visitor.enter()}
    assert visitor.ask("/?q=" + "x" * 5000)[0] == 414
    assert visitor.ask("/gateways/save", "POST", "name=" + "x" * 70_000, token)[0] == 413
    many = "&".join(f"f{i}=1" for i in range(500))
    assert visitor.ask("/gateways/save", "POST", many, token)[0] == 413
    for query in ("page=999999999", "page=-1", "page=x", "sort=id;drop", "status=%00", "q=%00%27"):
        assert visitor.ask(f"/?{query}")[0] == 200


def test_nothing_is_written_by_get(db: Database, visitor: Visitor, console: Console) -> None:
    visitor.enter()
    with as_user(db, console.owner):
        gateway_id = db.value("select id from public.fn_upsert_gateway(p_name => 'eu-west')")
    for path in (f"/gateways/{gateway_id}/delete", f"/gateways/{gateway_id}/save"):
        assert visitor.ask(path)[0] == 405
    assert db.value("select count(*) from agents.gateways") == 1


def test_what_is_a_strangers_is_not_there(db: Database, visitor: Visitor, tenant: object) -> None:
    visitor.enter()
    with as_user(db, tenant("bob")):  # type: ignore[operator]
        gateway_id = db.value("select id from public.fn_upsert_gateway(p_name => 'hidden-bridge')")
        workflow_id = db.value("select id from public.fn_upsert_workflow(p_title => 'hidden-work')")
        schedule_id = db.value(
            "select id from public.fn_upsert_workflow_schedule(%s)", [workflow_id]
        )
        run_id = db.value("select id from public.fn_run_workflow_schedule_now(%s)", [schedule_id])
        calendar_id = db.value(
            "select id from public.fn_create_schedule_calendar('hidden-days', 'skip_dates', 'UTC', '{2027-01-01}')"
        )
    for path in (
        f"/gateways/{gateway_id}", f"/schedules/{schedule_id}", f"/builder/{schedule_id}",
        f"/schedules/{schedule_id}/explain", f"/runs/{run_id}", f"/calendars/{calendar_id}",
        f"/calendars/{calendar_id}/edit",
    ):  # fmt: skip
        assert visitor.ask(path)[0] == 404
    for path in (
        "/",
        "/gateways",
        "/health",
        "/load",
        "/approvals",
        "/builder",
        "/runs",
        "/timeline",
        "/calendars",
    ):
        status, text, _ = visitor.ask(path)
        assert status == 200
        assert "hidden-" not in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "--as USER_UUID"),
        (["--as", "nonsense"], "nonsense"),
        (["--as", "00000000-0000-4000-8000-000000000000"], "there is no tenant with the user id"),
    ],
)
def test_it_acts_as_a_tenant_or_not_at_all(db: Database, arguments: list[str], says: str) -> None:
    command = [sys.executable, "-c", "from lf_sql.cli import main; main()", "console"]
    done = subprocess.run(
        [*command, "--dsn", db.dsn, "--port", "0", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("host", ["::", "[::]", "[::1]"])
def test_the_link_of_every_ipv6_address_leads_in(db: Database, owner: Tenant, host: str) -> None:
    """Where the machine has none, that is one line."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        has_ipv6 = False
    else:
        has_ipv6 = True
    command = ("console", "--as", str(owner.user_id), "--port", "0", "--host", host)
    with running(db.dsn, *command) as process:
        if not has_ipv6:
            assert process.ends() == 1
            assert "cannot listen on [::" in process.output
            return
        process.says("?token=")
        link = next(line for line in process.output.splitlines() if "?token=" in line)
        assert link.startswith("http://[::1]:")
        assert Visitor(Console(db, owner, link)).enter()
        assert process.stop() == 0
