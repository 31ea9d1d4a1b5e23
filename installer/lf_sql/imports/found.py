"""Jobs that were found, and the file that they make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lf_sql.ascode import exact, keys, write
from lf_sql.plain import plain

NO_TEXT = re.compile("[\0\ud800-\udfff]")  # what no text of the database holds
LARGEST = 1_048_576  # bytes that a workflow's definition may have
NO_APPROVAL = {"approval": {"requiresApproval": False}, "retry": {"maxRetries": 0}}


class Refused(Exception):
    """Why a job cannot be imported, and what comes near."""


@dataclass
class Job:
    """One job; `schedule` in the file's keys, `node` what it ran.

    `doubt`: why it is likely not what was meant, although it is what the other scheduler reads.
    """

    title: str
    schedule: dict[str, Any]
    node: dict[str, Any]
    notes: list[str] = field(default_factory=list)
    doubt: str | None = None


@dataclass
class Left:
    """One that is not imported: a refusal, or `is_fine` where it is not needed."""

    where: str
    reason: str
    is_fine: bool = False


def checked(found: Sequence[Job | Left]) -> list[Job | Left]:
    """The same; a job that is too large for `apply`, which would refuse the whole file, is left."""
    checked: list[Job | Left] = []
    for one in found:
        if isinstance(one, Job):
            size = len(exact.dumps(_definition(one), ensure_ascii=False).encode())
            if size > LARGEST:
                reason = f"what it runs has {size} bytes, and a definition has {LARGEST} at most"
                one = Left(one.title[:200], reason)
        checked.append(one)
    return checked


def _definition(job: Job) -> dict[str, Any]:
    """Of the workflow that runs it."""
    return {"nodes": [{"id": "run", **job.node}], "edges": []}


def title_of(command: str) -> str:
    """A short name for a command: its words without the folders of the first."""
    text = plain(" ".join(command.split()))
    first, _, rest = text.partition(" ")
    text = f"{first.rpartition('/')[2] or first} {rest}".strip()
    return text if len(text) <= 60 else f"{text[:57].rstrip()}..."


def file(
    project: str, heading: Sequence[str], found: Sequence[Job | Left]
) -> tuple[str, list[Left]]:
    """The YAML, and what was refused."""
    lines = [f"# {plain(line)}" for line in heading]
    lines.append(f"project: {write.dump(project).removesuffix('...' + chr(10)).strip()}")
    refused = [one for one in found if isinstance(one, Left) and not one.is_fine]
    has_jobs = any(isinstance(one, Job) for one in found)
    lines.append("workflows:" if has_jobs else "workflows: {}")
    taken: set[str] = set()
    for one in found:
        if isinstance(one, Left):
            word = "left out" if one.is_fine else "refused"
            lines += [f"  # {plain(one.where)}", f"  #   {word}: {plain(one.reason)}"]
            continue
        title = _free(one.title, taken)
        lines += [f"  # {plain(note)}" for note in [*one.notes, one.doubt] if note]
        item = {
            title: {
                "definition": _definition(one),
                "schedules": {title: {**one.schedule, **_defaults(one.schedule)}},
            }
        }
        lines += [f"  {line}" if line else "" for line in write.dump(item).splitlines()]
    return "\n".join(lines) + "\n", refused


def _defaults(schedule: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in NO_APPROVAL.items() if key not in schedule}


def _free(title: str, taken: set[str]) -> str:
    title = re.sub(r"\s+", " ", plain(title)).strip()[:180] or "job"
    if keys.as_id(title):
        title = f"job {title}"
    name, number = title, 1
    while name in taken:
        number += 1
        name = f"{title} ({number})"
    taken.add(name)
    return name
