"""`make release-check`: what a version has to pass before its release, a verdict a step.

`--only NAME` runs one step, `--list` names them. Logs, and what is made to be published, lie in dist/release.
A step that fails does not stop the others; the last line says which did, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from lf_sql import __version__
from tests.support import release_sql
from tests.support import release_steps as steps
from tests.support.release_steps import Failed

FOLDER = steps.ROOT / "dist" / "release"
Check = Callable[[Path], str]


@dataclass(frozen=True)
class Step:
    """`check` gets the folder for what it leaves, returns what it found, and raises Failed."""

    name: str
    what: str
    check: Check


# The quick ones first.
STEPS = (
    Step("changelog", "CHANGELOG.md begins with this version", steps.changelog),
    Step("image", "linters of the image's files", steps.image),
    Step("extension", "the extension's control file and scripts", steps.extension),
    Step("export", "exported SQL and calls against the last release", release_sql.export),
    Step("wheel", "built twice, the same bytes", steps.wheel),
    Step("sbom", "what the wheel brings along, as CycloneDX", steps.sbom),
    Step("matrix", "every test on PostgreSQL 15 to 18", steps.matrix),
    Step("proof", "the long tests", steps.proof),
    Step("bench", "the figures and what they must reach", steps.bench),
)


@dataclass(frozen=True)
class Verdict:
    name: str
    is_ok: bool
    words: str
    seconds: float

    def __str__(self) -> str:
        return (
            f"{'ok' if self.is_ok else 'FAILED':8}{self.name:11}{self.words} ({self.seconds:.0f} s)"
        )


def judge(step: Step, folder: Path) -> Verdict:
    """Whatever goes wrong in a step is its verdict."""
    started = perf_counter()
    try:
        words, is_ok = step.check(folder), True
    except Failed as error:
        words, is_ok = str(error), False
    except Exception as error:  # a tool that is missing, a file that is not there
        words, is_ok = f"{type(error).__name__}: {error}", False
    return Verdict(step.name, is_ok, " ".join(words.split()), perf_counter() - started)


def summary(verdicts: Sequence[Verdict]) -> str:
    failed = [verdict.name for verdict in verdicts if not verdict.is_ok]
    line = f"lf-sql {__version__}: {len(verdicts) - len(failed)} of {len(verdicts)} steps ok"
    return f"{line}; failed: {', '.join(failed)}" if failed else line


def main(arguments: Sequence[str], known: Sequence[Step] = STEPS, folder: Path = FOLDER) -> int:
    parser = argparse.ArgumentParser(prog="make release-check", description=__doc__)
    names = [step.name for step in known]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="repeatable")
    parser.add_argument("--list", action="store_true", help="names the steps and runs none")
    given = parser.parse_args(arguments)
    if given.list:
        for step in known:
            print(f"{step.name:11}{step.what}")
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    verdicts = []
    for step in known:
        if not given.only or step.name in given.only:
            verdicts.append(judge(step, folder))
            print(verdicts[-1], flush=True)
    print(summary(verdicts))
    return 0 if all(verdict.is_ok for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
