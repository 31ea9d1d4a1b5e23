"""Crontabs: each line is taken, and fires when cron fires it, or is refused with the reason."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
import yaml
from cronsim import CronSim

from lf_sql.imports import crontab
from lf_sql.imports.cron import NICKNAMES
from lf_sql.imports.found import Job, Left
from tests.support.command import Command
from tests.support.database import Database
from tests.surface.conftest import File

pytestmark = pytest.mark.usefixtures("owner")

DATA = Path(__file__).parent / "data"
TAKEN = (DATA / "crontab_taken.txt").read_text(encoding="utf-8").splitlines()
REFUSED = [
    line.split("|", 1)
    for line in (DATA / "crontab_refused.txt").read_text(encoding="utf-8").splitlines()
]
START = datetime(2026, 2, 26, 23, 58, tzinfo=UTC)


def read(text: str, is_system: bool = False) -> list[Job | Left]:
    return crontab.read(text, is_system, "UTC")


def test_there_are_enough() -> None:
    assert len(TAKEN) + len(REFUSED) >= 600


@pytest.mark.parametrize(("reason", "line"), REFUSED)
def test_refused_with_the_reason(reason: str, line: str) -> None:
    (found,) = read(line)
    assert isinstance(found, Left) and not found.is_fine
    assert reason in found.reason
    assert line.strip() in found.where


def by_cron(line: str) -> list[datetime]:
    """The next 100 instants of the line's own expression, as the reference gives them."""
    words = line.strip().removeprefix("-").split()
    if words[0].startswith("@"):
        expression = NICKNAMES[words[0].lower()]
    else:
        # a step beyond the field, which the reference reads otherwise, leaves the first value alone
        expression = (
            " ".join(words[:5]).replace("*/90", "0").replace("*/60", "0").replace("*/24", "0")
        )
    return list(islice(CronSim(expression, START), 100))


def test_taken_and_applied_they_fire_when_cron_fires(lf: Command, file: File, db: Database) -> None:
    file("\n".join(TAKEN) + "\n", "crontab")
    said = lf("import", "crontab", "crontab")
    assert f"{len(TAKEN)} imported, 0 refused" in said.err
    lf("apply", file(said.out, "jobs.yaml"))
    assert "nothing differs" in lf("apply", "jobs.yaml").err
    titles = list(yaml.safe_load(said.out)["workflows"])
    assert len(titles) == len(TAKEN)
    found = db.rows(
        "select s.name, array(select n from lenses.fn_cron_next(s.cron_expr, s.timezone, %s, 100) as n) "
        "as slots from lenses.workflow_schedules as s",
        [START],
    )
    slots = {row.name: row.slots for row in found}
    for title, line in zip(titles, TAKEN, strict=True):
        assert slots[title] == by_cron(line), line


def node(line: str, is_system: bool = False) -> dict[str, object]:
    found = read(line, is_system)[-1]
    assert isinstance(found, Job), found
    return found.node


@pytest.mark.parametrize(
    ("line", "command", "given"),
    [
        (r"0 0 * * * date +\%F", "date +%F", None),
        ("0 0 * * * cat%a%b", "cat", "a\nb\n"),
        (r"0 0 * * * cat %a\%b%", "cat", "a%b\n\n"),
        ("0 0 * * *   two  blanks  ", "two  blanks", None),
        ("0 0 * * * echo # x", "echo # x", None),
    ],
)
def test_percent_signs(line: str, command: str, given: str | None) -> None:
    assert node(line)["command"] == command
    assert node(line).get("stdin") == given


def test_settings_hold_for_what_is_below() -> None:
    first, mail, second = read(
        "0 1 * * * a\nMAILTO=me@example.org\nSHELL=/bin/bash\n PATH = '/opt/bin:/bin' \n"
        'TZ="Asia/Tokyo"\nCRON_TZ=Europe/Berlin\n0 2 * * * b\n'
    )
    assert isinstance(first, Job) and first.node == {"action": "shell", "command": "a"}
    assert first.schedule["timezone"] == "UTC"
    assert isinstance(mail, Left) and mail.is_fine and "mailed" in mail.reason
    assert isinstance(second, Job) and second.schedule["timezone"] == "Europe/Berlin"
    assert second.node == {
        "action": "shell", "command": "b", "shell": "/bin/bash",
        "env": {"PATH": "/opt/bin:/bin", "TZ": "Asia/Tokyo"},
    }  # fmt: skip


def test_a_zone_that_is_none() -> None:
    (found,) = read("CRON_TZ=Berlin\n0 1 * * * a")
    assert isinstance(found, Left) and 'CRON_TZ "Berlin" is no name of a zone' in found.reason


def test_comments_are_descriptions() -> None:
    text = (
        "# About the file\n\n# Nightly backup,\n#   of everything\n0 1 * * * a\n0 2 * * * b\n"
        "# ----\n#0 3 * * * was here once\n0 4 * * * c\n"
    )
    jobs = [job for job in read(text) if isinstance(job, Job)]
    assert [job.schedule.get("description") for job in jobs] == [
        "Nightly backup, of everything",
        None,
        None,
    ]


def test_a_line_that_goes_on() -> None:
    first, second = read("0 1 * * * a \\\n  --more\n")
    assert isinstance(first, Left) and "no continuation" in first.reason
    assert isinstance(second, Left) and "goes on from the line above" in second.reason


def test_system_crontabs_have_a_user() -> None:
    assert node("17 *\t* * *\troot\tcd / && run-parts /etc/cron.hourly", is_system=True) == {
        "action": "shell", "user": "root", "command": "cd / && run-parts /etc/cron.hourly",
    }  # fmt: skip
    assert node("@daily www-data x y", is_system=True)["user"] == "www-data"
    (found,) = read("0 1 * * * /usr/bin/x", is_system=True)
    assert isinstance(found, Left) and "a user before the command" in found.reason


def test_refusals_stand_in_the_file_and_make_it_fail(lf: Command, file: File) -> None:
    file("@reboot /opt/start\n0 1 * * * a\n", "crontab")
    said = lf("import", "crontab", "crontab", "--project", "box", code=1)
    assert re.search(
        r"^  # line 1: @reboot /opt/start\n  #   refused: @reboot is when", said.out, re.M
    )
    assert yaml.safe_load(said.out)["project"] == "box"
    assert said.err.splitlines()[-1] == "1 imported, 1 refused"
    assert lf("import", "crontab", "crontab", "--allow-partial").out.count("cron:") == 1
    assert len(lf("import", "crontab", "crontab", "--json", code=1).json["refused"]) == 1


def test_nothing_but_comments(lf: Command, file: File, db: Database) -> None:
    file("# nothing yet\n", "crontab")
    lf("apply", file(lf("import", "crontab", "crontab").out))


SYSTEM = "# m h dom mon dow user\tcommand\n17 *\t* * *\troot\tcd / && run-parts /etc/cron.hourly\n"


def test_the_heading_of_a_crontab_is_no_description() -> None:
    for heading in (
        "# m h  dom mon dow   command",
        "#minute hour dom",
        "# m h dom mon dow user\tx",
    ):
        (found,) = read(f"# what the template says\n{heading}\n0 9 * * * x")
        assert isinstance(found, Job)
        assert "description" not in found.schedule


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("17 * * * * root\tcd / && ls", "add --system"),
        ("30 * * * * * /bin/six", "a sixth field"),
        ("30 * * * * 1-5 /bin/six", "a sixth field"),
        ("0 9 * * * rooted", None),
        ("0 9 * * * [ -x /bin/x ]", None),
    ],
)
def test_what_is_likely_not_meant_is_taken_and_told(
    lf: Command, file: File, line: str, doubt: str | None
) -> None:
    name = file(f"{line}\n{line}\n", "crontab")
    answer = lf("import", "crontab", name)
    assert answer.err.count("look at ") == (doubt is not None), "once for all of them"
    assert doubt is None or (doubt in answer.err and "1 more" in answer.err)
    assert answer.out.count(doubt or "is that") == (2 if doubt else 0)


def test_a_tab_is_a_blank_in_a_title() -> None:
    (found,) = crontab.read(SYSTEM, True, "UTC")
    assert isinstance(found, Job)
    assert found.title == "cd / && run-parts /etc/cron.hourly"
    (found,) = read("0 9 * * * /bin/x\ty")
    assert isinstance(found, Job)
    assert found.title == "x y"
