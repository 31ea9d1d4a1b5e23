"""What files of schedules may be: several, standard input, with variables, aliases and mistakes."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from tests.support.command import Command
from tests.support.database import Database, Tenant
from tests.surface.apply_base import BASE, rows
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")


@pytest.mark.parametrize(
    ("old", "new", "where", "words"),
    [
        ("0 9 * * 1-5", "0 25 * * 1-5", "11: schedules.morning.cron", "25 0 * * 1-5"),
        ("Europe/Berlin\n        cal", "Europe/Berln\n        cal", "12: schedules.morning.timezone", "Berln"),
        ("calendar: closing", "calendar: clsing", "13: schedules.morning.calendar", 'no calendar "clsing"; the nearest is "closing"'),
        ("maxRetries", "maxRetrys", "14: schedules.morning.retry.maxRetrys", 'nearest is "maxRetries"'),
        ("maxRetries: 2", "maxRetries: -1", "14: schedules.morning.retry.maxRetries", "nearest allowed is 0"),
        ("every: 6h", "every: 6x", "16: schedules.later.every", "write 6h"),
        ("every: 6h", "every: 1m", "16: schedules.later.every", "300000"),
        ("every: 6h", "evry: 6h", "16: schedules.later.evry", 'nearest is "every"'),
        ("every: 6h", "at: 2026-12-24T09:00", "16: schedules.later.at", "offset"),
        ("every: 6h", "timezone: UTC", "15: schedules.later", "one of cron, every and at"),
        ("every: 6h", "every: 6h\n        every: 7h", "17: workflows.Nightly report.schedules.later.every", "twice"),
        ("dates: [2026-12-24]", "dates: [2026-13-24]", "5: calendars.closing.dates[0]", "no date"),
        ("dates: [2026-12-24]", "kind: skip", "5: calendars.closing.kind", "skip_dates"),
        ("dates: [2026-12-24]", "rules:\n      - {weekdays: [SUN]}\n      - {easter: 1, except: [{eastern: 0}]}", "7: calendars.closing.rules[1].except[0].eastern", 'nearest is "easter"'),
        ("definition:", "definitoin:", "8: workflows.Nightly report.definitoin", "definition"),
        ("nodes: [{id: a}]", "nodes: 7", "8: workflows.Nightly report.definition.nodes", "array"),
        ("project: shop", "projct: shop", "1: projct", 'nearest is "project"'),
        ("every: 6h", "every: 6h\n        queue: {mode: paralel}", "17: schedules.later.queue.mode", "parallel"),
        ("every: 6h", "every: 6h\n        agent: nobody", "17: schedules.later.agent", 'no agent called "nobody"'),
        ("every: 6h", "every: 6h\n        enabled: 'no'", "17: schedules.later.enabled", "true or false"),
        ("every: 6h", "every: 6h\n        timezone: UTC\n        window: {start: 2030-01-02T00:00Z, end: 2030-01-01T00:00Z}", "18: schedules.later.window.end", "before start_at"),
        ("every: 6h", "every: 6h\n        jitter: 2d", "17: schedules.later.jitter", "jitter_ms"),
        ("every: 6h", "every: 6h\n        jitter: 400d", "17: schedules.later.jitter", "jitter_ms"),
        ("every: 6h", "every: 6h\n        on_holiday: after", "17: schedules.later.on_holiday", "cron"),
        ("every: 6h", "every: 6h\n        model: " + "m" * 501, "17: schedules.later.model", "501"),
        ("every: 6h", "every: 6h\n        description: " + "d" * 2001, "17: schedules.later.description", "2001"),
        ("every: 6h", "every: 6h\n        version: 9", "17: schedules.later.version", "version 9 does not exist"),
        ("every: 6h", "every: 6h\n        version: 9999999999", "17: schedules.later.version", "at most 2147483647"),
        ("every: 6h", "every: 6h\n        assignment: 0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13", "17: schedules.later.assignment", "does not exist"),
        ("every: 6h", "every: 6h\n        inputs: " + "{a: " * 65 + "1" + "}" * 65, "17: schedules.later.inputs", "64 levels"),
        ("every: 6h", "every: 6h\n        rotation: [" + "{a: " * 64 + "1" + "}" * 64 + "]", "17: schedules.later.rotation", "64 levels"),
        ("every: 6h", "every: 6h\n        condition:\n          /a: {is: 1}", "18: schedules.later.condition./a.is", '"is"'),
        ("every: 6h", "every: 6h\n        approval:\n          requiresApproval: true\n          expiresAfterMs: 0", "19: schedules.later.approval.expiresAfterMs", "nearest allowed is 1"),
        ("every: 6h", "every: 6h\n        failure: {mode: fallback}", "17: schedules.later.failure", "fallbackAssigneeId"),
        ("      later:\n        every: 6h", "      "+"l" * 201 + ":\n        every: 6h", "15: schedules." + "l" * 201, "1 to 200 characters"),
        ("definition:", "kind: game\n    definition:", "8: workflows.Nightly report.kind", "Allowed: workflow, battle"),
        ("definition: {nodes: [{id: a}], edges: []}", "definition:\n      nodes: []\n      triggers:\n        - {id: t, type: schedule_based, cron_expr: 0 9 * * *}\n        - {id: u, type: schedule_based, cron_expr: 0 9 * * *, timezone: Mars}", "12: workflows.Nightly report.definition.triggers[1].timezone", "Mars"),
        ("timezone: Europe/Berlin\n    dates", "timezone: Mars\n    dates", "4: calendars.closing.timezone", "Mars"),
        ("dates: [2026-12-24]", "dates: [1969-12-24]", "5: calendars.closing.dates", "1970"),
        ("every: 6h", "every: [", "17", "no YAML"),
        ("every: 6h", "cron: */5 * * * *", "16", "no YAML"),
    ],
)  # fmt: skip
def test_an_error_says_where(
    lf: Command, file: File, db: Database, old: str, new: str, where: str, words: str
) -> None:
    assert BASE.count(old) == 1
    said = lf("apply", file(BASE.replace(old, new)), code=1).err
    assert said.startswith(f"error: a.yaml:{where}: "), said
    assert words in said
    assert db.value("select count(*) from lenses.workflows") == 0


def test_the_first_refusal_is_told_among_many(lf: Command, file: File) -> None:
    lines = [
        f"      s{n}:\n        cron: {'61' if n in (31, 40) else n % 60} * * * *\n"
        for n in range(50)
    ]
    said = lf("apply", file("workflows:\n  W:\n    schedules:\n" + "".join(lines)), code=1).err
    assert "a.yaml:67: schedules.s31.cron: " in said


def test_several_files_and_standard_input(
    lf: Command, file: File, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, tail = BASE.split("workflows:\n")
    file(head, "calendars.yaml")

    class Input:
        buffer = io.BytesIO(f"workflows:\n{tail}".encode())

    monkeypatch.setattr("sys.stdin", Input())
    lf("apply", "calendars.yaml", "-")
    assert set(rows(db)) == {"morning", "later"}
    said = lf("apply", file(BASE), file(BASE, "b.yaml"), code=1).err
    assert "b.yaml:3: calendars.closing: this is there twice, first in a.yaml:3" in said


def test_the_environment_only_where_asked(
    lf: Command, file: File, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHEN", "0 7 * * *")
    text = "workflows: {W: {schedules: {a: {cron: '${WHEN}', description: '$${WHEN} ${OTHER:-none}'}}}}\n"
    assert "invalid cron" in lf("apply", file(text), code=1).err
    lf("apply", file(text), "--env")
    assert tuple(db.row("select cron_expr, description from lenses.workflow_schedules")) == (
        "0 7 * * *",
        "${WHEN} none",
    )
    monkeypatch.delenv("WHEN")
    assert "a.yaml:1: " in lf("apply", file(text), "--env", code=1).err


def test_whose_file_it_is(
    lf: Command, file: File, db: Database, tenant: Callable[..., Tenant]
) -> None:
    other = tenant("other")
    assert "several tenants" in lf("apply", file(BASE), code=1).err
    lf("apply", file(f"tenant: other\n{BASE}"))
    lf("apply", file(f"tenant: {other.user_id}\n{BASE}"), "--as", str(other.user_id))
    assert set(db.column("select lenser_id from lenses.workflow_schedules")) == {other.id}
    assert 'no tenant called "nobody"' in lf("apply", file(f"tenant: nobody\n{BASE}"), code=1).err
    lf("apply", file(f"tenant: owner\n{BASE}"))
    assert db.value("select count(*) from lenses.workflow_schedules") == 4


def test_merge_keys_and_aliases(lf: Command, file: File, db: Database) -> None:
    text = (
        "workflows:\n  W:\n    schedules:\n      a: &base\n        cron: 0 1 * * *\n"
        "        timezone: Europe/Rome\n      b:\n        <<: *base\n        cron: 0 2 * * *\n"
    )
    lf("apply", file(text))
    assert db.column(
        "select cron_expr || timezone from lenses.workflow_schedules order by name"
    ) == [
        "0 1 * * *Europe/Rome",
        "0 2 * * *Europe/Rome",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("workflows: !foo {}", "workflows: the tag !foo is not known"),
        ("!foo {}", "the tag !foo is not known"),
        ("workflows:\n  W: !!set {a}", "workflows.W: the tag tag:yaml.org,2002:set is not known"),
        ("calendars: {c: {dates: !foo []}}", "calendars.c.dates: the tag !foo is not known"),
        ("calendars: {c: {dates: !!omap []}}", "calendars.c.dates: the tag tag:yaml.org,2002:omap"),
        ("workflows: {!foo W: {}}", "workflows: the tag !foo is not known"),
        ("project: !a:str shop", "project: the tag !a:str is not known"),
        ("workflows: {W: {schedules: {s: {every: 6h, enabled: !!bool no}}}}", "this is no bool: no"),
        ("workflows: {W: {schedules: {s: {every: 6h, inputs: {a: !!float nan}}}}}", "this is no float: nan"),
        ("workflows: {W: {schedules: {s: {every: 6h, jitter: !!null 6h}}}}", "this is no null: 6h"),
        (r'workflows: {"a\0": {}}', "workflows: the database takes no such character"),
        (r'workflows: {W: {definition: {"a\0": 1}}}', "definition: the database takes no such character"),
    ],
)  # fmt: skip
def test_a_tag_or_a_key_that_means_nothing(
    lf: Command, file: File, db: Database, text: str, said: str
) -> None:
    answer = lf("apply", file(f"{text}\n"), code=1).err
    assert answer.startswith("error: a.yaml:")
    assert said in answer
    assert db.value("select count(*) from lenses.workflows") == 0


def test_tags_that_say_what_is_there(lf: Command, file: File, db: Database) -> None:
    lf("apply", file("!!map\nworkflows: {W: !!map {schedules: {!!str s: {every: !!str 6h}}}}\n"))
    assert set(rows(db)) == {"s"}


def test_an_alias_that_holds_itself_and_one_that_explodes(lf: Command, file: File) -> None:
    assert "holds itself" in lf("apply", file("workflows: &a {b: *a}\n"), code=1).err
    laughs = "x0: &x0 [a,a,a,a,a,a,a,a,a,a]\n" + "".join(
        f"x{n}: &x{n} [{','.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 9)
    )
    assert "more than 2000000 values" in lf("apply", file(laughs), code=1).err
