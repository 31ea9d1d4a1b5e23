"""CONTRIBUTING.md and tests/README.md name folders, targets, files and fixtures that are there, and leave none out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
README = (TESTS / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
QUOTED = re.compile(r"`([^`\n]+)`")


def part(title: str) -> str:
    return README.partition(f"## {title}\n")[2].partition("\n## ")[0]


def first_cells(title: str) -> list[str]:
    """What the first column of a part's table quotes."""
    rows = [line.split("|")[1] for line in part(title).splitlines() if line.startswith("| `")]
    return [word for row in rows for word in QUOTED.findall(row)]


def test_each_folder_of_tests_is_told() -> None:
    folders = [path.name for path in TESTS.iterdir() if path.is_dir() and path.name[0] not in "._"]
    assert sorted(first_cells("Folders")) == sorted(set(folders))


def test_each_folder_of_functions_is_on_the_map() -> None:
    told = first_cells("Where a function's tests are")
    assert [name for name in told if not list(ROOT.glob(name))] == []
    folders = {
        str(path.parent.relative_to(ROOT)) for path in (ROOT / "sql").glob("*/functions/**/*.sql")
    }
    assert [name for name in sorted(folders) if not name.startswith(tuple(told))] == []


def test_the_map_leads_to_folders() -> None:
    cells = [
        line.split("|")[2]
        for line in part("Where a function's tests are").splitlines()
        if "`" in line
    ]
    names = [word for cell in cells for word in QUOTED.findall(cell)]
    assert names
    assert [name for name in names if not (TESTS / name).is_dir()] == []


def test_each_fixture_for_all_tests_is_told() -> None:
    code = "\n".join(
        (TESTS / name).read_text(encoding="utf-8")
        for name in ("conftest.py", "support/fixtures.py")
    )
    made = re.findall(r"^@pytest\.fixture.*\ndef ([a-z]\w*)", code, re.MULTILINE)
    assert sorted(first_cells("Fixtures")) == sorted(made)


def test_each_mark_is_told() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    marks = re.findall(r'^    "(\w+): ', project.partition("\nmarkers = [")[2], re.MULTILINE)
    assert marks == re.findall(r"^\* `(\w+)`", part("Marks"), re.MULTILINE)


def test_each_target_and_file_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for text in (CONTRIBUTING, README):
        targets = re.findall(r"\bmake ([a-z-]+)(?=`| {2})", text)
        assert targets
        assert [name for name in targets if f"\n{name}:" not in makefile] == []
    files = re.findall(r"`([\w./-]+\.(?:md|sql))`|\]\(([\w./-]+)", CONTRIBUTING)
    assert [a or b for a, b in files if not (ROOT / (a or b)).exists()] == []


def test_the_hooks_are_the_linters_of_make_lint() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    recipe = (
        (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlint:")[2].partition("\n\n")[0]
    )
    linted = re.findall(r"\$\(BIN\)/(\w+(?: (?:check|format|lint|-m [\w.]+)\b)?)", recipe)
    hooked = re.findall(r"entry: \.venv/bin/(\w+(?: (?:check|format|lint|-m [\w.]+)\b)?)", hooks)
    assert linted == hooked
