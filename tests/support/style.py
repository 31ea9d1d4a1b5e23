"""The one style of the SQL sources that sqlfluff does not see, above all within $$ bodies.

`sql/README.md` (Style) says the rules in words. Migrations are never edited, and `sql/schema.sql`
is generated, so both are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2] / "sql"
WIDTH = 100
CLAUSES = ("returns", "language", "volatility", "strict", "security", "set", "as")

_QUIET = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
_BARE_JOIN = re.compile(r"(?<!\binner)(?<!\bcross)(?<!\bleft)(?<!\bright)(?<!\bouter)\s+join\b")
_END = re.compile(r"^end\n\$\w*\$", re.MULTILINE)
_RAISE = re.compile(r"\braise exception\b(?! using\n)")
_COMMENT = re.compile(r"^comment on (?:function|procedure) .*?\bis\b", re.MULTILINE | re.DOTALL)
_HEAD = re.compile(r"^create (?:or replace )?function.*?^as ", re.MULTILINE | re.DOTALL)
_CLAUSE = re.compile(
    r"^(returns|language|immutable|stable|volatile|strict|security|set|as)\b", re.MULTILINE
)
_GRANT = re.compile(
    r"grant (?P<right>[a-z, ]+) on (?P<kind>(?:all [a-z]+ in )?schema |function |procedure |)"
    r"(?P<objects>.+) to (?P<role>[a-z_]+)"
)


def _code(text: str) -> str:
    """The text without comments and literals, each as long as it was, so that lines stay."""
    return _QUIET.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def problems(text: str) -> Iterator[tuple[int, str]]:
    """Line and complaint for each place of a source where the style is not kept."""
    code = _code(text)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDTH:
            yield number, f"{len(line)} columns; {WIDTH} are the most"
    for found in _BARE_JOIN.finditer(code):
        yield _line(code, found.end()), "write `inner join`"
    for found in _RAISE.finditer(code):
        yield (
            _line(code, found.start()),
            "write `raise exception using`, then one field a line",
        )
    for found in _COMMENT.finditer(code):
        if not re.match(r"\n  '", text[found.end() :]):
            yield _line(code, found.end()), "begin the text of a comment on a line of its own"
    if "language plpgsql" in code or re.search(r"^do \$", code, re.MULTILINE):
        for found in _END.finditer(code):
            yield _line(code, found.start()), "end a body with `end;`"
    for found in _HEAD.finditer(code):
        clauses = [
            "volatility" if word in ("immutable", "stable", "volatile") else word
            for word in _CLAUSE.findall(found[0])
        ]
        if "volatility" not in clauses:
            yield _line(code, found.start()), "state immutable, stable or volatile"
        if clauses != sorted(clauses, key=CLAUSES.index):
            yield _line(code, found.start()), f"order the clauses: {', '.join(CLAUSES)}"


def grant_problems(text: str) -> Iterator[tuple[int, str]]:
    """Line and complaint for each grant that is not in its role's block, or not in its place."""
    code = _code(text)
    roles: list[str] = []
    rights: set[tuple[str, str, str]] = set()
    for found in re.finditer(r"^grant .*?;", code, re.MULTILINE | re.DOTALL):
        line = _line(code, found.start())
        grant = _GRANT.fullmatch(re.sub(r"\s+", " ", found[0].rstrip(";")))
        if not grant:
            yield line, "grant one kind of right to one role"
            continue
        role, kind = grant["role"], grant["kind"].strip()
        if role not in roles:
            roles.append(role)
        elif role != roles[-1]:
            yield line, f"the block of {role} is further up"
        if (role, grant["right"], kind) in rights:
            yield line, f"{role} has a statement for this right already: add to it"
        rights.add((role, grant["right"], kind))
        objects = re.split(r", (?![^(]*\))", grant["objects"])
        names = [name.partition("(")[0] for name in objects]
        if names != sorted(set(names)):
            yield line, "sort the names, each once"


def main() -> int:
    found = [
        f"sql/{path.relative_to(ROOT)}:{line}: {complaint}"
        for path in sorted(ROOT.rglob("*.sql"))
        if path.parent.name != "migrations" and path.name != "schema.sql"
        for text in [path.read_text(encoding="utf-8")]
        for line, complaint in [
            *problems(text),
            *(grant_problems(text) if path.name == "grants.sql" else ()),
        ]
    ]
    if found:
        print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
