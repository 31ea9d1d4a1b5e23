"""What an import cannot take is a reason in its file, and `apply` takes the rest."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from lf_sql.imports import crontab
from lf_sql.imports.found import Job, Left
from tests.support.command import Command
from tests.support.database import Database
from tests.surface.conftest import File
from tests.surface.test_import_others import PG_TIMETABLE, cron_job, only

pytestmark = pytest.mark.usefixtures("owner")
NO_ZONES = ["Local", "localtime", "posixrules", "Factory", "Berlin", "CET+1", "../etc/passwd"]


def container(**more: Any) -> dict[str, Any]:
    return {"name": "a", "image": "shop:1", "command": ["run"], **more}


@pytest.mark.parametrize("zone", NO_ZONES)
def test_a_zone_that_apply_would_refuse(lf: Command, file: File, zone: str) -> None:
    text = f"CRON_TZ={zone}\n0 1 * * * a\nCRON_TZ=Asia/Tokyo\n0 2 * * * b\n"
    first, second = crontab.read(text, False, "UTC")
    reason = f'"{zone}" is no name of a zone, such as Europe/Berlin'
    assert isinstance(first, Left) and first.reason == f"CRON_TZ {reason}"
    assert isinstance(second, Job)
    manifest = file(f"{cron_job(timeZone=zone)}---\n{cron_job()}", "k.yaml")
    said = lf("import", "kubernetes", manifest, code=1)
    assert f"refused: timeZone {reason}" in said.out
    prefixed = only(cron_job(f"TZ={zone} 0 1 * * *"))
    assert isinstance(prefixed, Left) and prefixed.reason == f"TZ {reason}"
    lf("apply", file(said.out))


def test_a_zone_in_other_letters() -> None:
    found = only(cron_job(timeZone="europe/berlin"))
    assert isinstance(found, Left)
    assert found.reason == 'timeZone "europe/berlin" is no name of a zone, write "Europe/Berlin"'


@pytest.mark.parametrize("command", ["crontab", "kubernetes"])
@pytest.mark.parametrize("zone", ["", "localtime", "europe/berlin"])
def test_a_zone_of_the_command(lf: Command, file: File, command: str, zone: str) -> None:
    said = lf("import", command, file("0 1 * * * a\n", "c"), "--tz", zone, code=2)
    assert f'"{zone}" is no name of a zone' in said.err
    assert "--tz" in said.err
    assert said.out == ""


def test_the_zone_of_pg_cron(lf: Command, empty_db: Database) -> None:
    empty_db.execute(
        "create schema cron; create table cron.job (jobid bigint, schedule text, command text, "
        "database text, username text, active boolean, jobname text);"
        "insert into cron.job values (1, '0 3 * * *', 'select 1', 'app', 'me', true, 'one')"
    )
    empty_db.execute(f"alter database {empty_db.dbname} set cron.timezone = 'localtime'")
    said = lf("import", "pg-cron", "--dsn", empty_db.dsn, code=1)
    assert 'cron.timezone "localtime" is no name of a zone' in said.out


def test_the_zone_of_pg_timetable(lf: Command, file: File, empty_db: Database) -> None:
    empty_db.execute(PG_TIMETABLE)
    empty_db.execute(f"alter database {empty_db.dbname} set timezone = 'localtime'")
    said = lf("import", "pg-timetable", "--dsn", empty_db.dsn, code=1)
    assert 'the server\'s TimeZone "localtime" is no name of a zone' in said.out
    lf("apply", file(said.out))


def command_of(**more: Any) -> tuple[str, Job]:
    found = only(cron_job(container=container(**more)))
    assert isinstance(found, Job), found
    return str(found.node["command"]), found


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["echo", "$(A)"], "echo one"),
        (["echo", "$(A)/$(B)", "x$(A)"], "echo one/one-two xone"),
        (["echo", "$$(A)"], "echo '$(A)'"),
        (["echo", "$(NONE)"], "echo '$(NONE)'"),
        (["echo", "$A", "$(A", "$$", "$"], "echo '$A' '$(A' '$' '$'"),
    ],
)
def test_references_are_filled_in(words: list[str], command: str) -> None:
    env = [
        {"name": "A", "value": "one"},
        {"name": "B", "value": "$(A)-two"},
        {"name": "C", "value": "$(D)"},
        {"name": "D"},
    ]
    found, job = command_of(command=words[:1], args=words[1:], env=env)
    assert found == command
    assert job.node["env"] == {"A": "one", "B": "one-two", "C": "$(D)", "D": ""}
    assert job.doubt is None


@pytest.mark.parametrize(
    "more",
    [
        {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]},
        {"envFrom": [{"secretRef": {"name": "s"}}]},
    ],
    ids=["variable", "all"],
)
def test_a_reference_to_what_is_kept_elsewhere_is_told(
    lf: Command, file: File, more: dict[str, Any]
) -> None:
    text = cron_job(container=container(command=["echo", "$(A)"], **more))
    said = lf("import", "kubernetes", file(text, "k.yaml"))
    doubt = "it has $(A), whose value is kept elsewhere: write it there"
    assert f"# {doubt}" in said.out
    assert doubt in said.err
    lf("apply", file(said.out))


def test_what_is_left_behind_is_told() -> None:
    job = {
        "parallelism": 3,
        "completions": 1,
        "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {
                "restartPolicy": "Never",
                "securityContext": {},
                "serviceAccountName": "robot",
                "volumes": [{"name": "v"}],
                "initContainers": [{"name": "first"}],
                "containers": [
                    container(
                        workingDir="/app",
                        volumeMounts=[{"name": "v"}],
                        resources={"limits": {"cpu": 1}},
                        stdin=False,
                    )
                ],
            },
        },
    }
    manifest = yaml.safe_load(cron_job(successfulJobsHistoryLimit=3, news="x"))
    manifest["spec"]["jobTemplate"]["spec"] = job
    found = only(yaml.safe_dump(manifest))
    assert isinstance(found, Job)
    assert found.notes == [
        "it ran in the image shop:1",
        "not imported of its CronJob: news x",
        "not imported of its Job: parallelism 3",
        "not imported of its pod: initContainers, serviceAccountName robot, volumes",
        "not imported of its container: volumeMounts, workingDir /app",
    ]


def test_nothing_is_told_where_all_is_taken() -> None:
    found = only(cron_job(failedJobsHistoryLimit=1, job={"completions": 1, "parallelism": 1}))
    assert isinstance(found, Job)
    assert found.notes == ["it ran in the image shop:1"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (cron_job(container=container(env=5)), 'env "5"'),
        (cron_job(container=container(env=["A"])), 'env "A"'),
        (cron_job(container=container(env=[{"value": "x"}])), "env"),
        (cron_job(container=container(command="run")), 'command "run"'),
        (cron_job(container=container(args={"a": 1})), "args"),
        (cron_job(startingDeadlineSeconds="soon"), 'startingDeadlineSeconds "soon"'),
        (cron_job(concurrencyPolicy=["Allow"]), "concurrencyPolicy"),
        (cron_job(job={"backoffLimit": "2"}), 'backoffLimit "2"'),
        (cron_job(job={"backoffLimit": -1}), 'backoffLimit "-1"'),
        (cron_job(job={"activeDeadlineSeconds": "30"}), 'activeDeadlineSeconds "30"'),
        (cron_job(job={"activeDeadlineSeconds": True}), 'activeDeadlineSeconds "True"'),
    ],
)
def test_a_field_of_another_kind_is_refused(text: str, what: str) -> None:
    found = only(text)
    assert isinstance(found, Left)
    assert found.reason.startswith("Kubernetes itself does not read")
    assert what in found.reason


def test_containers_that_are_none() -> None:
    manifest = yaml.safe_load(cron_job())
    manifest["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"] = 5
    found = only(yaml.safe_dump(manifest))
    assert isinstance(found, Left) and 'containers "5"' in found.reason


def test_what_is_longer_than_lf_sql_allows_is_cut(lf: Command, file: File) -> None:
    text = cron_job(job={"activeDeadlineSeconds": 10**12, "backoffLimit": 10**6})
    lf("apply", file(lf("import", "kubernetes", file(text, "k.yaml")).out))


def test_a_character_that_no_text_holds(lf: Command, file: File) -> None:
    file("# a \0 comment\n0 1 * * * a\0b\nX=\0\n0 2 * * * b\n", "crontab")
    said = lf("import", "crontab", "crontab", code=1)
    assert said.err.count("refused: line") == 2
    assert "it has a character that the database takes nowhere" in said.out
    assert "1 imported, 2 refused" in said.err
    lf("apply", file(said.out))
    manifest = file(cron_job(container=container(args=["a\0"])) + "---\n" + cron_job(), "k.yaml")
    said = lf("import", "kubernetes", manifest, code=1)
    assert "a character that the database takes nowhere" in said.out
    lf("apply", file(said.out))
