"""Apply and diff: what changes, what stays, what is refused and where."""

from __future__ import annotations

import io

import psycopg
import pytest

from tests.support.cli import start
from tests.support.command import Command
from tests.support.database import Database, wait_until
from tests.surface.apply_base import BASE, rows
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")


def test_twice_is_no_change(lf: Command, file: File, db: Database) -> None:
    name = file(BASE)
    assert lf("diff", name, code=1).out.splitlines() == [
        "calendars",
        "  + closing",
        "workflows",
        "  + Nightly report",
        "schedules",
        "  + morning  (Nightly report)",
        "  + later  (Nightly report)",
    ]
    assert "4 added, 0 changed, 0 taken away" in lf("apply", name).err
    first = rows(db)
    assert set(first) == {"morning", "later"}
    assert "nothing differs" in lf("apply", name).err
    assert lf("diff", name).out == ""
    assert rows(db) == first


def test_a_change_is_told_field_by_field(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    before = rows(db)
    changed = BASE.replace("0 9 * * 1-5", "0 8 * * 1-5").replace("every: 6h", "every: 90m")
    found = lf("diff", "--json", file(changed), code=1).json
    assert found["changes"] == [
        {
            "action": "change",
            "kind": "schedule",
            "name": "morning",
            "workflow": "Nightly report",
            "fields": {"cron": {"old": "0 9 * * 1-5", "new": "0 8 * * 1-5"}},
        },
        {
            "action": "change",
            "kind": "schedule",
            "name": "later",
            "workflow": "Nightly report",
            "fields": {"every": {"old": "6h", "new": "1h 30m"}},
        },
    ]
    assert rows(db) == before
    assert "cron: 0 9 * * 1-5 → 0 8 * * 1-5" in lf("apply", file(changed)).out
    assert {name: row[1] for name, row in rows(db).items()} == {
        name: row[1] for name, row in before.items()
    }


def test_what_is_left_out_of_a_schedule_has_its_default(
    lf: Command, file: File, db: Database
) -> None:
    lf("apply", file(BASE))
    lf("apply", file(BASE.replace("        retry: {maxRetries: 2}\n", "")))
    policy = "select retry_policy from lenses.workflow_schedules where name = 'morning'"
    assert db.value(policy) == {"maxRetries": 1}


def test_a_pause_made_by_hand_stays(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    lf("schedule", "pause", "morning", "--note", "by hand")
    before = rows(db)["morning"]
    assert "nothing differs" in lf("apply", file(BASE)).err
    lf("apply", file(BASE.replace("maxRetries: 2", "maxRetries: 3")))
    after = rows(db)["morning"]
    assert after[6] is not None and after[:5] == before[:5] and after[6] == before[6]


def test_watermarks_runs_and_history_stay(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    db.execute(
        "update lenses.workflow_schedules set next_run_at = '2020-01-01' where name = 'morning'"
    )
    lf("schedule", "run-now", "morning")
    before = rows(db)["morning"]
    lf("apply", file(BASE.replace("maxRetries: 2", "maxRetries: 3")))
    assert rows(db)["morning"][:4] == before[:4]
    runs = "select count(*) from lenses.workflow_runs where schedule_id = %s"
    assert db.value(runs, [before[1]]) == 1


def test_a_file_that_leaves_something_out_takes_nothing_away(
    lf: Command, file: File, db: Database
) -> None:
    lf("apply", file(BASE))
    before = rows(db)
    assert "nothing differs" in lf("apply", file("project: shop\n")).err
    assert rows(db) == before


def test_prune_takes_away_only_what_the_project_made(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    lf("apply", file(BASE.replace("shop", "other").replace("morning:", "theirs:"), "b.yaml"))
    lf("schedule", "create", "Nightly report", "--name", "by hand", "--cron", "0 1 * * *")
    empty = file("project: shop\n", "c.yaml")
    assert (
        "error: --prune takes away morning, later, Nightly report, closing: say --yes\n"
        in lf("apply", empty, "--prune", code=2).err
    )
    assert set(rows(db)) == {"morning", "later", "theirs", "by hand"}
    said = lf("apply", empty, "--prune", "--yes")
    assert set(rows(db)) == {"theirs", "by hand"}
    assert "workflow Nightly report stays: schedules that the project did not make" in said.out
    assert "calendar closing stays" in said.out
    assert "0 added, 0 changed, 2 taken away" in said.err


def test_prune_wants_a_project(lf: Command, file: File) -> None:
    said = lf("apply", file(BASE.replace("project: shop\n", "")), "--prune", "--yes", code=1)
    assert "no file says project:" in said.err and "project: NAME" in said.err


def test_a_workflow_and_a_calendar_that_nobody_has_go(
    lf: Command, file: File, db: Database
) -> None:
    lf("apply", file(BASE))
    lf("apply", file("project: shop\n"), "--prune", "--yes")
    assert db.value("select status from lenses.workflows") == "deleted"
    assert db.value("select count(*) from lenses.schedule_calendars where not is_seed") == 0


def test_what_was_there_before_belongs_to_no_project(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE.replace("project: shop\n", "")))
    lf("apply", file(BASE.replace("maxRetries: 2", "maxRetries: 3")))
    assert "nothing differs" in lf("apply", file("project: shop\n"), "--prune", "--yes").err
    assert set(rows(db)) == {"morning", "later"}


def test_a_rename_keeps_id_and_history(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    before = rows(db)["morning"]
    renamed = BASE.replace("      morning:", "      dawn:\n        was: morning")
    assert "name: morning → dawn" in lf("apply", file(renamed)).out
    assert rows(db)["dawn"][1:4] == before[1:4]
    assert "nothing differs" in lf("apply", file(renamed)).err
    both = renamed + "      morning:\n        cron: 0 1 * * *\n"
    lf("apply", file(both))
    assert set(rows(db)) == {"dawn", "morning", "later"}
    assert "nothing differs" in lf("apply", file(both)).err


def test_renames_in_a_row(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    before = rows(db)
    chain = BASE.replace("      later:", "      third:\n        was: later").replace(
        "      morning:", "      later:\n        was: morning"
    )
    lf("apply", file(chain))
    after = rows(db)
    assert (after["third"][1], after["later"][1]) == (before["later"][1], before["morning"][1])


def test_workflows_and_calendars_are_renamed_too(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    ids = db.row(
        "select w.id as w, c.id as c from lenses.workflows w, lenses.schedule_calendars c where not c.is_seed"
    )
    text = BASE.replace("  Nightly report:", "  Report:\n    was: Nightly report")
    text = text.replace("  closing:", "  closed:\n    was: closing").replace(
        "calendar: closing", "calendar: closed"
    )
    lf("apply", file(text))
    assert (
        db.row(
            "select w.id as w, c.id as c from lenses.workflows w, lenses.schedule_calendars c where not c.is_seed and c.name = 'closed' and w.title = 'Report'"
        )
        == ids
    )
    assert "nothing differs" in lf("apply", file(text)).err


def test_a_failing_file_changes_nothing(lf: Command, file: File, db: Database) -> None:
    lf("apply", file(BASE))
    before = rows(db)
    bad = BASE.replace("every: 6h", "every: 6m").replace("2026-12-24", "2026-12-25")
    bad += "      broken:\n        cron: 0 25 * * *\n"
    assert "a.yaml:18: schedules.broken.cron: " in lf("apply", file(bad), code=1).err
    assert rows(db) == before
    assert (
        db.value("select dates[1]::text from lenses.schedule_calendars where not is_seed")
        == "2026-12-24"
    )


def test_quotas_hold(lf: Command, file: File, db: Database) -> None:
    db.execute("select lenses.fn_set_dispatch_settings('{\"max_schedules_per_lenser\": 1}')")
    said = lf("apply", file(BASE), code=1).err
    assert "a.yaml:15: schedules.later: " in said
    assert rows(db) == {}


def test_two_at_once_end_as_one_of_the_two(lf: Command, file: File, db: Database) -> None:
    one = file(BASE, "one.yaml")
    two = file(BASE.replace("0 9 * * 1-5", "0 8 * * 1-5").replace("6h", "7h"), "two.yaml")
    with db.another() as holder:
        holder.execute("begin; lock table lenses.schedule_calendars in exclusive mode")
        started = [start("apply", name, dsn=db.dsn) for name in (one, two)]
        wait_until(
            lambda: (
                db.value(
                    "select count(*) from pg_stat_activity where datname = current_database() "
                    "and wait_event_type = 'Lock' and application_name like 'lf-sql%'"
                )
                == 2
            ),
            60,
        )
        holder.execute("rollback")
        done = [(process.communicate(timeout=120), process.returncode) for process in started]
    assert [code for _, code in done] == [0, 0], done
    ends = [lf("diff", name, code=None).code for name in (one, two)]
    assert sorted(ends) == [0, 1]
    assert db.value("select count(*) from lenses.workflows") == 1


def test_a_question_where_something_is_taken_away(
    lf: Command, file: File, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lf("apply", file(BASE))
    answers = iter([False, True])

    def ask(*_: object, abort: bool, **__: object) -> bool:
        answer = next(answers)
        if abort and not answer:
            import click

            raise click.Abort
        return answer

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("click.confirm", ask)
    empty = file("project: shop\n")
    lf("apply", empty, "--prune", code=130)
    assert set(rows(db)) == {"morning", "later"}
    lf("apply", empty, "--prune")
    assert rows(db) == {}


def test_no_change_asks_as_much_however_many_there_are(
    lf: Command, file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    real = psycopg.Cursor.execute

    def counted(self: object, query: object, *args: object, **more: object) -> object:
        sent.append(str(query))
        return real(self, query, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    counts = []
    for there, many in ((0, 2), (2, 60)):
        body = "".join(f"      s{n}:\n        cron: {n % 60} * * * *\n" for n in range(many))
        name = file("workflows:\n  W:\n    schedules:\n" + body)
        sent.clear()
        lf("apply", name)
        assert sum("p_schedule_id =>" in query for query in sent) == many - there
        sent.clear()
        lf("apply", name)
        assert not any("p_schedule_id =>" in query for query in sent)
        counts.append(len(sent))
    assert counts[0] == counts[1]


def test_a_policy_that_is_spelled_out_as_its_default_is_the_schedules_own(
    lf: Command, file: File, db: Database
) -> None:
    """The server's default mode moves only what the file leaves out."""
    text = """
workflows:
  w:
    schedules:
      left out: {cron: "0 9 * * *"}
      spelled out: {cron: "0 9 * * *", queue: {mode: parallel}, retry: {maxRetries: 1}}
"""
    limits = "select max_in_flight from lenses.workflow_schedules order by name"
    lf("apply", file(text))
    assert "nothing differs" in lf("apply", "a.yaml").err
    lf("settings", "set", "default_queue_mode", "serial")
    assert db.column(limits) == [1, None]
    lf("apply", file(text.replace("0 9", "0 8")))
    assert db.column(limits) == [1, None]
    exported = lf("export", "--yaml").out
    assert exported.count("parallel") == 1 and "nothing differs" in lf("diff", file(exported)).err
