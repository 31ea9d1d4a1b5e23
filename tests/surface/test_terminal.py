"""What a person sees on a terminal 80 to 160 columns wide, his clock at a Saturday's noon."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.database import Database, connect, make_tenant
from tests.support.state import State
from tests.support.terminal import on_a_terminal, plain_text

SCREENS = Path(__file__).parent / "screens"
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
WIDTHS = (80, 100, 120, 160)
COMMANDS = (
    ["schedule", "list"],
    ["runs", "list"],
    ["schedule", "history", "morning"],
    ["schedule", "calendar", "list"],
    ["schedule", "calendar", "show", "weekends-only"],
    ["schedule", "show", "morning"],
    ["runs", "show", "00000005"],
    ["workflow", "list"],
    ["schedule", "explain", "late", "--at", "2199-11-27 23:30"],
    ["schedule", "explain", "morning", "--at", "2199-01-12 09:30"],
)
ROWS = """
insert into lenses.workflows (id, lenser_id, title, created_at)
select ('a0000000-0000-4000-8000-00000000000' || n)::uuid, %(lenser)s, title, '2026-11-01T09:00Z'
from (values (1, 'Nightly report of all shops'), (2, 'Newsletter')) as w (n, title);

insert into lenses.workflow_schedules (
  id, lenser_id, workflow_id, name, schedule_type, cron_expr, interval_ms, run_at, timezone, start_at,
  next_run_at, is_active, paused_at, pause_note, approval_policy, retry_policy, inputs_template
)
select
  (left(md5(s.n::text), 8) || '-0000-4000-8000-000000000000')::uuid, %(lenser)s,
  ('a0000000-0000-4000-8000-00000000000' || s.workflow)::uuid, s.name, s.kind, s.cron, s.every, s.at,
  s.zone, s.start_at, s.next, s.is_active,
  case when not s.is_active then timestamptz '2026-11-27T09:00Z' end,
  case when not s.is_active then 'moving house' end,
  '{"requiresApproval": false}', '{"maxRetries": 2, "backoffMs": 60000, "timeoutMs": 5400000}',
  '{"region": "eu", "shops": [1, 2]}'
from (
  values
    (1, 1, 'morning', 'cron', '0 9 * * 1-5', null::bigint, null::timestamptz, 'Europe/Istanbul',
      timestamptz '2999-01-01T00:00Z', timestamptz '2999-01-07T06:00Z', true),
    (2, 1, 'late', 'cron', '30 23 * * *', null, null, 'America/New_York', null,
      '2026-11-29T04:30Z', true),
    (3, 2, 'a name of a schedule that is much longer than any terminal would show of it', 'interval',
      null, 21600000, null, 'UTC', '2026-01-01T00:00Z', '2026-11-28T18:00Z', true),
    (4, 2, null, 'cron', '*/5 8-17 * * MON-FRI', null, null, 'Europe/Berlin', null,
      '2026-11-30T07:00Z', false),
    (5, 2, 'once', 'once', null, null, '2027-03-01T08:00Z', 'UTC', null, '2027-03-01T08:00Z', true)
) as s (n, workflow, name, kind, cron, every, at, zone, start_at, next, is_active);

insert into lenses.workflow_runs (
  id, lenser_id, workflow_id, workflow_version, schedule_id, scheduled_for, idempotency_key, trigger_mode,
  status, policies, context_inputs, attempt, started_at, completed_at, worker_id, metadata, created_at
)
select
  (lpad(r.n::text, 8, '0') || '-0000-4000-8000-000000000000')::uuid, %(lenser)s,
  'a0000000-0000-4000-8000-000000000001', 1, s.id, r.at, 'r' || r.n, r.mode, r.status,
  '{"approval_policy": {"requiresApproval": false}}', '{"region": "eu"}', 1, r.at,
  case when r.status <> 'running' then r.at + r.n * interval '37 seconds' end, 'w1',
  r.metadata::jsonb, r.at
from (
  values
    (5, timestamptz '2026-11-27T06:00Z', 'schedule', 'failed', '{"result": {"status": "failed",
      "cause": "rate_limit", "error": "the provider said no: 429, come back in an hour or tomorrow"}}'),
    (6, '2026-11-26T06:00Z', 'schedule', 'completed', '{"result": {"pages": 12}}'),
    (7, '2026-11-25T06:00Z', 'manual', 'completed', '{"result": "fine"}')
) as r (n, at, mode, status, metadata)
cross join (select s.id from lenses.workflow_schedules as s where s.name = 'morning') as s;

update lenses.workflow_schedules as s
set last_run_id = '00000005-0000-4000-8000-000000000000', last_run_at = '2026-11-27T06:00Z',
  last_dispatch_status = 'dispatched'
where s.name = 'morning'
"""

# A slot of its own on a holiday, which moves, and a workflow that is paused.
MOVED = """
insert into lenses.workflow_schedules (
  lenser_id, workflow_id, name, cron_expr, calendar_id, on_holiday, created_at
)
select w.lenser_id, w.id, 'moved', '0 9 25 12 *', c.id, 'after', '2026-01-01T00:00Z'
from lenses.workflows as w
cross join lenses.schedule_calendars as c
where w.title = 'Newsletter' and c.name = 'us-federal-holidays'
"""


@pytest.fixture(scope="module")
def played(state: State) -> Iterator[Database]:
    """Five schedules and three runs, at instants of their own."""
    name = state.fresh(installed=True)
    with connect(state.server.dsn(name)) as conn:
        owner = make_tenant(conn, "owner")
        conn.execute("set role lf_sql_engine")
        for statement in ROWS.split(";\n"):
            conn.execute(statement, {"lenser": owner.id})
        conn.execute("reset role")
        yield conn
    state.drop(name)


@pytest.mark.parametrize("columns", WIDTHS)
def test_screens(played: Database, columns: int) -> None:
    """WRITE_SCREENS=1 writes them anew: look at each before it is kept."""
    seen = ""
    for command in COMMANDS:
        code, screen = on_a_terminal(played.dsn, *command, columns=columns, now=NOON)
        assert code == 0, screen
        seen += f"$ lf-sql {' '.join(command)}\n{plain_text(screen)}\n"
    assert [line for line in seen.splitlines() if len(line) > columns] == []
    path = SCREENS / f"{columns}.txt"
    if os.environ.get("WRITE_SCREENS"):
        path.write_text(seen)
    assert seen == path.read_text()


def test_wide_shows_every_column_at_full_length(played: Database) -> None:
    _, screen = on_a_terminal(played.dsn, "runs", "list", "-o", "wide", columns=80, now=NOON)
    head, *rows = plain_text(screen).splitlines()
    assert head.split()[-2:] == ["FULL", "ID"]
    assert rows[0].endswith("00000005-0000-4000-8000-000000000000")
    assert "come back in an hour or tomorrow" in rows[0]
    assert len(rows) == 3


def test_health_folds_between_words_and_leaves_commands_in_one_piece(played: Database) -> None:
    code, screen = on_a_terminal(played.dsn, "schedule", "health", columns=60)
    assert code == 1
    lines = plain_text(screen).splitlines()
    assert [line for line in lines if len(line) > 60 and not line.startswith("    -> ")] == []
    assert any(line.startswith("    -> lf-sql schedule preview ") for line in lines)
    assert any(line.startswith("NEVER_RAN: late: ") for line in lines), "names, not ids"
    _, there = on_a_terminal(played.dsn, "schedule", "health", env={"TZ": "Asia/Tokyo"})
    assert "JST" in there
    assert " UTC" not in there


@pytest.mark.parametrize(
    "command",
    [
        ["settings", "list"],
        ["schedule", "lint"],
        ["schedule", "load"],
        ["schedule", "describe", "0 9 15,L * FRIL"],
        ["schedule", "explain", "morning", "--at", "2199-01-12 09:30"],
    ],
    ids=" ".join,
)
def test_sentences_are_folded_and_the_load_fits(played: Database, command: list[str]) -> None:
    code, screen = on_a_terminal(played.dsn, *command, columns=80)
    text = plain_text(screen)
    assert code == 0
    assert "…" not in text
    assert [line for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("group", [["schedule"], ["runs"], ["import"], ["schedule", "calendar"]])
def test_a_group_without_a_command_prints_its_help(played: Database, group: list[str]) -> None:
    code, screen = on_a_terminal(played.dsn, *group)
    lines = plain_text(screen).splitlines()
    assert code == 2
    assert lines[0] == f"Usage: lf-sql {' '.join(group)} [OPTIONS] COMMAND [ARGS]..."
    assert "Commands:" in lines


@pytest.mark.parametrize(
    "command", [["schedule", "list"], ["runs", "list"], ["schedule", "health"]]
)
def test_watch_draws_until_it_is_interrupted(played: Database, command: list[str]) -> None:
    again = ["--watch", "0.5"]
    code, screen = on_a_terminal(
        played.dsn,
        *command,
        *again,
        until=lambda seen: seen.count("every 0.5 s") >= 2,
        typed="\x03",
    )
    assert code == 0
    pictures = screen.split("every 0.5 s, Ctrl-C ends")
    assert len(pictures) == 3
    assert "error" not in screen


@pytest.mark.parametrize(
    ("command", "question"),
    [
        (["runs", "retry", "--failed"], "Retry 1 run? [y/N]"),
        (["schedule", "delete", "late"], "Delete schedule late? [y/N]"),
        (["schedule", "calendar", "import", "--country", "US", "--years", "2027"], "Store these"),
    ],
)
def test_a_question_is_asked_on_a_terminal(
    played: Database, command: list[str], question: str
) -> None:
    before = played.rows("select id, status from lenses.workflow_runs")
    code, screen = on_a_terminal(played.dsn, *command, typed="n\n")
    assert (code, question in screen) == (130, True), screen
    assert played.rows("select id, status from lenses.workflow_runs") == before


def test_one_voice_of_errors(played: Database) -> None:
    for command, code, said in (
        (["schedule", "lst"], 2, ["error: No such command 'lst'. Did you mean 'list'?", "--help"]),
        (["schedule", "zzz"], 2, ["error: No such command 'zzz'.\n"]),
        (["runs", "list", "--limit", "0"], 2, ["error: Invalid value for '--limit'"]),
        (["schedule", "describe", "61 * * * *"], 2, ["error: ", "hint: "]),
        (["schedule", "show", "mornin"], 1, ["error: there is no schedule 'mornin'",
                                            "hint: did you mean 'morning'?"]),
        (["schedule", "show", "zzz"], 1, ["hint: lf-sql schedule list"]),
        (["schedule", "list", "--as", "00000000-0000-4000-8000-00000000dead"], 1,
         ["there is no tenant with the user id 00000000-0000-4000-8000-00000000dead"]),
        (["runs", "show", "00000005", "--as", "00000000-0000-4000-8000-00000000dead"], 1,
         ["there is no tenant with the user id"]),
        (["schedule", "list", "--as", "me"], 2, ["--as wants the uuid of a user"]),
    ):  # fmt: skip
        found, screen = on_a_terminal(played.dsn, *command, columns=200)
        text = plain_text(screen)
        assert found == code, text
        assert text.lower().count("error:") == 1, text
        assert text.splitlines()[0].startswith("error: ")
        assert [line.split(":")[0] for line in text.splitlines()][1:] in ([], ["hint"]), text
        for words in said:
            assert words in text


@pytest.mark.parametrize("columns", [36, 48])
@pytest.mark.parametrize(
    "command",
    [
        ["schedule", "describe", "30 * * * * sunday"],
        ["schedule", "show", "mornin"],
        ["schedule", "list", "--as", "00000000-0000-4000-8000-00000000dead"],
        ["schedule", "create", "Newsletter", "--every", "6h", "--on-holiday", "after"],
        ["runs", "deliver", "--url", "https://jobs.example.org/run"],
    ],
    ids=" ".join,
)
def test_errors_are_folded_between_words_beside_their_head(
    played: Database, command: list[str], columns: int
) -> None:
    _, wide = on_a_terminal(played.dsn, *command, columns=1000)
    code, screen = on_a_terminal(played.dsn, *command, columns=columns)
    text = plain_text(screen)
    assert code in (1, 2)
    joined = re.sub(r"\n +", " ", text)
    assert joined == plain_text(wide), "no word is broken"
    assert text != joined, "this message is too short for the test"
    head = ""
    for line in text.splitlines():
        assert len(line) <= columns or " " not in line.strip(), line
        if found := re.match(r"error: |hint: ", line):
            head = found[0]
        else:
            assert re.match(r" +", line)[0] == " " * len(head), line  # type: ignore[index]


def test_a_note_is_folded_too(played: Database) -> None:
    command = ["schedule", "create", "Newsletter", "--cron", "0 9 * * *", "--disabled"]
    code, screen = on_a_terminal(played.dsn, *command, columns=40)
    lines = plain_text(screen).splitlines()
    played.execute("delete from lenses.workflow_schedules where cron_expr = '0 9 * * *'")
    assert code == 0
    note = lines[next(n for n, line in enumerate(lines) if "its runs wait" in line) :]
    assert len(note) > 1
    assert all(line.startswith("  ") and line[2] != " " and len(line) <= 40 for line in note)


@pytest.mark.parametrize(
    "command",
    [
        ["schedule", "preview", "--all", "--from", "2026-12-01", "--days", "30"],
        ["schedule", "preview", "moved", "--from", "2026-12-24", "--days", "9"],
    ],
    ids=" ".join,
)
def test_a_reason_is_never_cut(played: Database, command: list[str]) -> None:
    played.execute(MOVED)
    _, wide = on_a_terminal(played.dsn, *command, columns=400)
    code, screen = on_a_terminal(played.dsn, *command, columns=80)
    played.execute("delete from lenses.workflow_schedules where name = 'moved'")
    text = plain_text(screen)
    assert code == 0
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "moved from Fri 25 Dec: us-federal-holidays" in plain_text(wide)
    start = text.splitlines()[0].index("REASON")
    found = [word for line in text.splitlines()[1:] for word in line[start:].split()]
    assert "…" not in " ".join(found)
    for word in ["moved", "from", "Fri", "25", "Dec:", "us-federal-holidays"]:
        assert word in found, text


def test_a_run_by_hand_is_the_last_run_and_marked(played: Database) -> None:
    code, _ = on_a_terminal(played.dsn, "schedule", "run-now", "late")
    assert code == 0
    for columns, said in ((80, "pending, manual"), (160, "pending, manual, ")):
        _, screen = on_a_terminal(played.dsn, "schedule", "list", columns=columns)
        (line,) = (one for one in plain_text(screen).splitlines() if one.startswith("late "))
        assert said in line
        assert len(line) <= columns
    played.execute(
        "delete from lenses.workflow_runs where trigger_mode = 'manual' and status = 'pending'"
    )


def test_settings_spell_lengths_of_time(played: Database) -> None:
    _, screen = on_a_terminal(played.dsn, "settings", "list", columns=80)
    lines = plain_text(screen).splitlines()
    assert {"missed_grace: 2m", "retention: 90d", "ticks_retention: 14d"} <= set(lines)
    assert not [line for line in lines if re.search(r"\d\d:\d\d:\d\d", line)]


def test_a_change_is_told_by_name(played: Database) -> None:
    for verb, said in (("pause", "paused"), ("resume", "resumed, next run ")):
        code, screen = on_a_terminal(played.dsn, "schedule", verb, "late")
        assert (code, plain_text(screen).startswith(f"late  {said}")) == (0, True), screen
