"""Compare two catalogues. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lf_sql.canonical import canonical

Key = tuple[str, str]  # kind, identity
Facts = Mapping[str, Any]
Catalogue = dict[Key, Facts]

STATE_KINDS = {"table", "sequence", "index", "constraint", "type"}  # only migrations make these
MENDABLE_FACTS = {"owner", "acl", "column acl", "row security", "forced"}
FREE_TO_ADD = {"index"}  # operators may add indexes of their own


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that is not as the install left it."""

    kind: str
    identity: str
    problem: str

    def __str__(self) -> str:
        return f"{self.kind} {self.identity}: {self.problem}".removesuffix(": ")


@dataclass(frozen=True)
class Damage:
    """What was expected before an upgrade, and what of it was there (None: nothing)."""

    kind: str
    identity: str
    expected: Facts
    found: Facts | None


def compare(expected: Catalogue, actual: Catalogue, *, same_server: bool = True) -> list[Finding]:
    """What differs. `same_server` false leaves out texts that major versions print differently."""
    findings = []
    for key in sorted(expected.keys() | actual.keys()):
        kind, identity = key
        if key not in actual:
            findings.append(Finding(kind, identity, "missing"))
        elif key not in expected:
            if kind not in FREE_TO_ADD:
                findings.append(Finding(kind, identity, "unexpected"))
        else:
            findings += [
                Finding(kind, identity, problem)
                for problem in _differences(expected[key], actual[key], same_server)
            ]
    return findings


def damage(before: Catalogue, expected: Catalogue) -> tuple[Damage, ...]:
    """Differences in objects that only migrations make: a replay does not repair them."""
    return tuple(
        Damage(*key, facts, _state_of(before.get(key)))
        for key, facts in expected.items()
        if key[0] in STATE_KINDS and _state_of(before.get(key)) != _state_of(facts)
    )


def _state_of(facts: Facts | None) -> dict[str, Any] | None:
    if facts is None:
        return None
    return {name: fact for name, fact in facts.items() if name not in MENDABLE_FACTS}


def _differences(expected: Facts, actual: Facts, same_server: bool) -> Iterator[str]:
    for name in sorted(expected.keys() | actual.keys()):
        want, have = expected.get(name), actual.get(name)
        if want == have or (name.endswith("_def") and not same_server):
            continue
        if (
            name.endswith("_def")
            and isinstance(want, str)
            and isinstance(have, str)
            and canonical(want) == canonical(have)
        ):
            continue
        label = name.removesuffix("_def")
        if isinstance(want, list) and isinstance(have, list):
            yield from _list_differences(label, want, have)
        elif isinstance(want, dict) and isinstance(have, dict):
            yield from (
                f"{label}: {member} is {have.get(member, 'missing')}"
                f"{'' if member not in want else f', should be {want[member]}'}"
                for member in sorted(want.keys() | have.keys())
                if want.get(member) != have.get(member)
            )
        elif name == "body" or name.endswith("_def"):
            yield f"another {label}"
        else:
            yield f"{label} is {_word(have)}, should be {_word(want)}"


def _list_differences(label: str, want: list[Any], have: list[Any]) -> Iterator[str]:
    lost = [str(item) for item in want if item not in have]
    extra = [str(item) for item in have if item not in want]
    if lost:
        yield f"{label} lacks {', '.join(lost)}"
    if extra:
        yield f"{label} has unexpected {', '.join(extra)}"
    if not lost and not extra:
        yield f"{label} in another order"


def _word(fact: Any) -> str:
    return (
        {None: "none", True: "on", False: "off"}.get(fact, str(fact))
        if not isinstance(fact, list | dict)
        else str(fact)
    )
