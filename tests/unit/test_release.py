"""`make release-check`: what fails is said, what passes is said, and nothing stops the rest."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lf_sql import __version__
from tests.support import release, release_sql, release_steps
from tests.support.release import Step
from tests.support.release_steps import Failed


def fails(folder: Path) -> str:
    raise Failed("two builds differ: lf_sql/worker.py")


def breaks(folder: Path) -> str:
    raise FileNotFoundError(2, "No such file or directory", "hadolint")


def works(folder: Path) -> str:
    (folder / "made").touch()
    return "all is\nwell"


STEPS = [Step("bad", "", fails), Step("odd", "", breaks), Step("good", "as it should be", works)]


def lines(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Words, without the seconds."""
    return [line.partition(" (")[0].split() for line in capsys.readouterr().out.splitlines()]


def test_each_step_has_its_verdict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert release.main([], STEPS, tmp_path / "new") == 1
    assert (tmp_path / "new" / "made").exists()
    bad, odd, good, last = lines(capsys)
    assert bad == ["FAILED", "bad", "two", "builds", "differ:", "lf_sql/worker.py"]
    assert odd[:3] == ["FAILED", "odd", "FileNotFoundError:"]
    assert good == ["ok", "good", "all", "is", "well"]
    assert last == f"lf-sql {__version__}: 1 of 3 steps ok; failed: bad, odd".split()


def test_some_of_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert release.main(["--only", "good"], STEPS, tmp_path) == 0
    assert lines(capsys)[-1] == f"lf-sql {__version__}: 1 of 1 steps ok".split()
    assert release.main(["--only", "good", "--only", "bad"], STEPS, tmp_path) == 1
    assert [line[1] for line in lines(capsys)[:-1]] == ["bad", "good"]


def test_a_name_that_is_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as end:
        release.main(["--only", "godo"], STEPS, tmp_path)
    assert end.value.code == 2
    assert "good" in capsys.readouterr().err


def test_they_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert release.main(["--list"], STEPS, tmp_path) == 0
    assert "good       as it should be" in capsys.readouterr().out
    assert [step.name for step in release.STEPS] == [
        "changelog", "image", "extension", "export", "wheel", "sbom", "matrix", "proof", "bench"
    ]  # fmt: skip


def test_a_command_that_fails_is_told_by_its_last_line(tmp_path: Path) -> None:
    with pytest.raises(Failed, match=r"^sh: exit 3: at the end$"):
        release_steps.run("sh", "-c", "echo first; echo at the end >&2; exit 3", cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Changelog\n", "begins with nothing"),
        ("# Changelog\n\n## 0.0.9\n\n* x\n\n## {v}\n\n* y\n", "begins with 0.0.9"),
        ("# Changelog\n\n## Unreleased\n\n* x\n", "begins with Unreleased"),
        ("# Changelog\n\n## {v}\n\n### Added\n\n## 0.0.9\n\n* x\n", "is empty"),
    ],
)
def test_a_changelog_without_this_version(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(Failed, match=words):
        release_steps.changelog(tmp_path, text.replace("{v}", __version__))


def test_a_changelog_with_it(tmp_path: Path) -> None:
    text = f"# Changelog\n\n## {__version__}\n\n* x\n* y\n\n## 0.0.9\n\n* z\n"
    assert release_steps.changelog(tmp_path, text) == f"{__version__} has 2 lines"


BEFORE = 'p_id uuid, p_n int default 1, p_policy jsonb default \'{"a":1,"b":2}\''


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (BEFORE, ""),
        (f"{BEFORE}, p_more text default null", ""),
        (f"{BEFORE}, p_more text", "wants more parameters"),
        (BEFORE.replace("p_n", "p_count"), "takes other parameters"),
        (BEFORE.replace("p_n int", "p_n text"), "takes other parameters"),
        (BEFORE.replace("int default 1", "int"), "wants what it had a default for"),
        (BEFORE.partition(", p_policy")[0], "takes other parameters"),
        (None, "is gone"),
    ],
)
def test_calls_of_before(after: str | None, words: str, tmp_path: Path) -> None:
    for name, parameters in (("old", BEFORE), ("new", after)):
        folder = tmp_path / name / "public" / "functions" / "runs"
        folder.mkdir(parents=True)
        if parameters is not None:
            text = f"-- fn_x\ncreate or replace function public.fn_x(\n  {parameters}\n)\nreturns text\nas $$x$$;\n"
            (folder / "fn_x.sql").write_text(text)
    found = list(release_sql.broken_calls(tmp_path / "old", tmp_path / "new"))
    assert found == ([f"public.fn_x {words}"] if words else [])


def test_every_function_of_public_is_looked_at() -> None:
    sql = release_steps.ROOT / "sql"
    names = {path.stem for path in (sql / "public" / "functions").rglob("*.sql")}
    assert set(release_sql.signatures(sql)) == names


def test_released_migrations(tmp_path: Path) -> None:
    for name, texts in (("old", ("a", "b", "c")), ("new", ("a", "x", None, "d"))):
        folder = tmp_path / name / "migrations"
        folder.mkdir(parents=True)
        for number, text in enumerate(texts):
            if text is not None:
                (folder / f"{number:04d}_m.sql").write_text(text)
    assert list(release_sql.changed_migrations(tmp_path / "old", tmp_path / "new")) == [
        "the released migration 0001_m.sql has been changed",
        "the released migration 0002_m.sql is gone",
    ]


def zipped(path: Path, content: str, hour: int = 0, mode: int = 0o644) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in (("same.py", "same"), ("other.py", content)):
            info = zipfile.ZipInfo(name, (2026, 1, 1, hour if name == "other.py" else 0, 0, 0))
            info.external_attr = (mode if name == "other.py" else 0o644) << 16
            file.writestr(info, text)
    return path


@pytest.mark.parametrize(
    "make",
    [
        lambda path: zipped(path, "other"),
        lambda path: zipped(path, "x", hour=1),
        lambda path: zipped(path, "x", mode=0o600),
    ],
    ids=["content", "time", "mode"],
)
def test_what_two_wheels_differ_by(make: Callable[[Path], Path], tmp_path: Path) -> None:
    one = zipped(tmp_path / "one", "x")
    assert release_steps.difference(one, zipped(tmp_path / "again", "x")) == ""
    assert release_steps.difference(one, make(tmp_path / "two")) == "other.py"


def test_a_bill_of_materials_without_a_dependency(tmp_path: Path) -> None:
    names = ["psycopg", "click", "PyYAML", "rich"]
    bom = {"components": [{"name": name, "version": "1"} for name in names]}
    with pytest.raises(Failed, match=r"^not in it: (?!.*(psycopg|click|pyyaml|rich)).*httpx"):
        release_steps.judged(bom, tmp_path)


@pytest.mark.slow
def test_the_wheel_is_the_same_twice(tmp_path: Path) -> None:
    before = os.umask(0o022)
    os.umask(before)
    assert "twice" in release_steps.wheel(tmp_path)
    assert os.umask(before) == before
