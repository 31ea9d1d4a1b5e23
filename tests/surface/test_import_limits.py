"""What an import refuses as `apply` or Kubernetes would: what is too large, holds itself or is of another kind."""

from __future__ import annotations

from typing import Any

import pytest

from lf_sql.ascode import source
from lf_sql.errors import LfSqlError
from lf_sql.imports import kubernetes, manifests
from lf_sql.imports.found import Job, Left
from tests.support.command import Command
from tests.surface.conftest import File
from tests.surface.test_import_others import cron_job, only
from tests.surface.test_import_strange import container

pytestmark = pytest.mark.usefixtures("owner")
LEVELS = "\n".join(
    f"a{n}: &a{n} [{', '.join(['x' if n == 0 else f'*a{n - 1}'] * 10)}]" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("&a\nkind: List\nitems: [*a]\n", "k.yaml:1: nested more than 70 deep, or an alias"),
        (f"a: {'[' * 80}{']' * 80}\n", "k.yaml:1: nested more than 70 deep, or an alias"),
        (f"{LEVELS}\nkind: List\nitems: *a8\n", "k.yaml: with its aliases written out this is"),
        ("a: 1\nimage: !!timestamp x\n", "k.yaml:2: this is no timestamp: x"),
        ("a: 1\nimage: !!bool x\n", "k.yaml:2: this is no bool: x"),
        ('a: 1\nimage: !!int ""\n', "k.yaml:2: this is no int:"),
        ('a: 1\nimage: !!float ""\n', "k.yaml:2: this is no float:"),
        ("a: 1\n? !!bool x\n: 1\n", "k.yaml:2: this is no bool: x"),
        (f"a: 0x{'f' * 5000}\n", "k.yaml:1: this is no int: 0xfff"),
        ("a: !!int [1]\n", "k.yaml:1: this is no YAML: expected a scalar node"),
    ],
)
def test_a_manifest_that_cannot_be_read(lf: Command, file: File, text: str, said: str) -> None:
    answer = lf("import", "kubernetes", file(text, "k.yaml"), code=1)
    assert said in answer.err
    assert answer.out == ""


def test_values_as_kubernetes_reads_them() -> None:
    text = "[2026-12-24, 2026-99-99, 12:30, 1:30.5, 1.5, 017, yes, !!float 1, !!int '2', ~]"
    dates = ["2026-12-24", "2026-99-99", "12:30", "1:30.5"]
    assert manifests.documents(text, "f") == [[*dates, 1.5, 15, True, 1.0, 2, None]]


@pytest.mark.parametrize(
    ("manifest", "what"),
    [
        (cron_job(suspend="false"), 'suspend "false"'),
        (cron_job(suspend=1), 'suspend "1"'),
        (cron_job(timeZone=5), 'timeZone "5"'),
        (cron_job(container=container(command=["run", 5])), 'command "5"'),
        (cron_job(container=container(args=[True])), 'args "True"'),
        (cron_job(container=container(env=[{"name": "A", "value": 1.5}])), 'env A "1.5"'),
        (cron_job().replace("0 1 * * *", "5").replace("'5'", "5"), 'schedule "5"'),
    ],
)
def test_a_kind_that_kubernetes_refuses(manifest: str, what: str) -> None:
    found = only(manifest)
    assert isinstance(found, Left)
    assert found.reason == f"Kubernetes itself does not read {what}"


@pytest.mark.parametrize(("said", "enabled"), [(True, False), (False, None), (None, None)])
def test_what_is_suspended(said: Any, enabled: bool | None) -> None:
    found = only(cron_job(suspend=said))
    assert isinstance(found, Job)
    assert found.schedule.get("enabled") == enabled


def test_what_is_too_large_is_left_and_the_rest_applied(lf: Command, file: File) -> None:
    large = "x" * 1_100_000
    file(f"0 1 * * * a\n0 2 * * * {large}\nBIG={'y' * 1_048_000}\n0 3 * * * b\n", "crontab")
    manifest = cron_job(container=container(args=[large])) + "---\n" + cron_job()
    file(manifest, "k.yaml")
    for kind, name, count in (("crontab", "crontab", 2), ("kubernetes", "k.yaml", 1)):
        said = lf("import", kind, name, code=1)
        assert f"{count} imported, 1 refused" in said.err
        assert "and a definition has 1048576 at most" in said.out
        assert len(said.out) < 1_200_000
        lf("apply", file(said.out))


def test_files_of_schedules_have_the_same_bound() -> None:
    with pytest.raises(LfSqlError, match="nested too deep"):
        source.read(f"a: {'[' * 900}{']' * 900}", "f")
    with pytest.raises(LfSqlError, match="nested too deep"):
        kubernetes.read(f"a: {'[' * 900}{']' * 900}", "f", "UTC")
