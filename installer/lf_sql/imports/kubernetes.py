"""Kubernetes CronJobs, from their manifests (or `kubectl get cronjobs -A -o yaml`)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Iterator
from typing import Any

from lf_sql.durations import duration, spelt
from lf_sql.errors import LfSqlError
from lf_sql.imports import cron, manifests, zones
from lf_sql.imports.found import NO_TEXT, Job, Left, Refused

OVERLAP = {
    "Allow": {"mode": "parallel"},
    "Forbid": {"mode": "serial", "onOverlap": "skip"},
    "Replace": {"mode": "serial", "onOverlap": "replace"},
}
LONGEST = 366 * 86_400_000  # ms that an attempt may take
GRACE = 120  # seconds: what is no later than missed_grace counts as on time
# What has a meaning here, or none where no pod is made. Whatever else is said is told as a note.
CRON_JOB = {
    *("schedule", "timeZone", "concurrencyPolicy", "startingDeadlineSeconds", "suspend"),
    *("jobTemplate", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"),
}
JOB = {
    *("backoffLimit", "activeDeadlineSeconds", "template", "ttlSecondsAfterFinished"),
    *("completionMode", "podReplacementPolicy", "manualSelector", "selector"),
}
POD = {
    *("containers", "restartPolicy", "terminationGracePeriodSeconds", "dnsPolicy"),
    *("schedulerName", "nodeSelector", "affinity", "tolerations", "imagePullSecrets"),
    *("topologySpreadConstraints", "enableServiceLinks", "priority", "priorityClassName"),
    *("preemptionPolicy", "automountServiceAccountToken"),
}
CONTAINER = {
    *("name", "image", "command", "args", "env", "envFrom", "imagePullPolicy", "resources"),
    *("terminationMessagePath", "terminationMessagePolicy"),
}
_REFERENCE = re.compile(r"\$(?:\$|\(([^)]*)\))")
_ZONE = re.compile(r"(?:CRON_)?TZ=(\S+)\s+(.*)")


def read(text: str, file: str, timezone: str) -> list[Job | Left]:
    """Every CronJob in it, lists opened; other kinds are passed over."""
    documents = manifests.documents(text, file)
    if strange := [one for one in documents if one is not None and not isinstance(one, dict)]:
        raise LfSqlError(
            f"{file}: this is no Kubernetes manifest: it begins {str(strange[0])[:40]!r}",
            "kubectl get cronjobs -A -o yaml writes one; for a crontab: lf-sql import crontab",
        )
    found: list[Job | Left] = []
    for one in _cron_jobs(documents):
        meta = _object(one.get("metadata"))
        space = meta.get("namespace")
        name = f"{space}/{meta.get('name')}" if space else str(meta.get("name") or "job")
        spec = _object(one.get("spec"))
        try:
            found.append(_job(name, spec, timezone))
        except Refused as refused:
            found.append(Left(f"{name}: {spec.get('schedule')}", str(refused)))
    return found


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _cron_jobs(documents: list[Any]) -> Iterator[dict[str, Any]]:
    for one in documents:
        if isinstance(one, dict) and one.get("kind") == "CronJob":
            yield one
        elif isinstance(one, dict) and isinstance(one.get("items"), list):
            yield from _cron_jobs(one["items"])


def _list(value: Any, what: str) -> list[Any]:
    """A list, empty where nothing is said."""
    if value is not None and not isinstance(value, list):
        raise _unread(what, value)
    return value or []


def _number(value: Any, what: str) -> int | None:
    """A whole number, none below zero."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise _unread(what, value)
    return value


def _flag(value: Any, what: str) -> bool:
    """True or false, which it is where nothing is said."""
    if value is not None and not isinstance(value, bool):
        raise _unread(what, value)
    return bool(value)


def _text(value: Any, what: str) -> str:
    """Text, empty where nothing is said."""
    if value is not None and not isinstance(value, str):
        raise _unread(what, value)
    return value or ""


def _unread(what: str, value: Any) -> Refused:
    return Refused(f'Kubernetes itself does not read {what} "{str(value)[:40]}"')


def _job(name: str, spec: dict[str, Any], timezone: str) -> Job:
    schedule, notes = _when(_text(spec.get("schedule"), "schedule").strip(), spec, timezone)
    policy = spec.get("concurrencyPolicy", "Allow")
    if not isinstance(policy, str) or policy not in OVERLAP:
        raise _unread("concurrencyPolicy", policy)
    deadline = _number(spec.get("startingDeadlineSeconds"), "startingDeadlineSeconds")
    missed = "skip" if deadline is not None and deadline <= GRACE else "run_once"
    schedule["queue"] = {**OVERLAP[policy], "onMissed": missed}
    if deadline is not None:
        notes.append(
            f"startingDeadlineSeconds {deadline}: a slot that comes late is "
            + ("dropped" if missed == "skip" else "run once, however late")
        )
    if _flag(spec.get("suspend"), "suspend"):
        schedule["enabled"] = False
    job = _object(_object(spec.get("jobTemplate")).get("spec"))
    limit = _number(job.get("backoffLimit"), "backoffLimit")
    retry: dict[str, Any] = {"maxRetries": min(6 if limit is None else limit, 1000)}
    longest = _number(job.get("activeDeadlineSeconds"), "activeDeadlineSeconds")
    if longest:
        retry["timeoutMs"] = min(longest * 1000, LONGEST)
    schedule["retry"] = retry
    pod = _object(_object(job.get("template")).get("spec"))
    containers = _list(pod.get("containers"), "containers")
    if len(containers) != 1:
        raise Refused(
            f"it runs {len(containers)} containers, and one command can be imported; "
            "write a script that runs them, or kubectl create job --from=cronjob/…"
        )
    container = _object(containers[0])
    node, doubt = _node(container, notes)
    for whose, part, known in (
        ("CronJob", spec, CRON_JOB),
        ("Job", job, JOB),
        ("pod", pod, POD),
        ("container", container, CONTAINER),
    ):
        left = [_said(key, value) for key, value in part.items() if _has(key, value, known)]
        if left:
            notes.append(f"not imported of its {whose}: {', '.join(left)}")
    return Job(name, schedule, node, notes, doubt)


def _has(key: Any, value: Any, known: Container[str]) -> bool:
    """Whether the manifest says something there that gets lost."""
    is_usual = key in ("parallelism", "completions") and value == 1
    return key not in known and value not in (None, "", False, [], {}) and not is_usual


def _said(key: Any, value: Any) -> str:
    return str(key) if isinstance(value, dict | list) else f"{key} {str(value)[:60]}"


def _when(text: str, spec: dict[str, Any], timezone: str) -> tuple[dict[str, Any], list[str]]:
    zone, what = _text(spec.get("timeZone"), "timeZone") or timezone, "timeZone"
    prefix = _ZONE.fullmatch(text)
    if prefix:
        zone, what, text = prefix[1], "TZ", prefix[2]
    if text.startswith("@every"):
        length = duration(text.removeprefix("@every").strip())
        if length is None:
            raise Refused(f'Kubernetes itself does not read "{text}"')
        if length.total_seconds() < 300:
            minutes = max(1, round(length.total_seconds() / 60))
            near = "* * * * *" if minutes == 1 else f"*/{minutes} * * * *"
            raise Refused(f'an interval has five minutes at least; near it is cron: "{near}"')
        if length.days > 3660:
            raise Refused("an interval has ten years at most")
        every = spelt(round(length.total_seconds() * 1000))
        return {"every": every}, ["@every counts from when it is created, there as here"]
    if text.startswith("@"):
        if text not in cron.NICKNAMES:
            raise Refused(f'Kubernetes itself does not read "{text}"')
        return {"cron": cron.NICKNAMES[text], "timezone": zones.require(zone, what)}, []
    expression, notes = cron.translated(text.split(), cron.KUBERNETES)
    return {"cron": expression, "timezone": zones.require(zone, what)}, notes


def _node(container: dict[str, Any], notes: list[str]) -> tuple[dict[str, Any], str | None]:
    """What it ran, and a doubt about it."""
    words, arguments = (
        [_text(word, key) for word in _list(container.get(key), key)] for key in ("command", "args")
    )
    if not words:
        raise Refused(
            f"what it runs is in the image {container.get('image')}; write command: in the "
            "manifest, or run kubectl create job --from=cronjob/…"
        )
    notes.append(f"it ran in the image {container.get('image')}")
    env: dict[str, str] = {}
    elsewhere: set[str] = set()
    lost: list[str] = []

    def filled(text: str) -> str:
        """With $(NAME) replaced as Kubernetes does: by what env: has said so far."""

        def fill(match: re.Match[str]) -> str:
            if match[1] is None:
                return "$"
            if match[1] not in env and (match[1] in elsewhere or container.get("envFrom")):
                lost.append(match[0])
            return env.get(match[1], match[0])

        return _REFERENCE.sub(fill, text)

    for variable in _list(container.get("env"), "env"):
        name = variable.get("name") if isinstance(variable, dict) else None
        if not isinstance(name, str) or not name:
            raise _unread("env", variable)
        if variable.get("valueFrom") is not None:
            elsewhere.add(name)
            env.pop(name, None)
            notes.append(f"its variable {name} is kept elsewhere: not imported")
        else:
            env[name] = filled(_text(variable.get("value"), f"env {name}"))
    if container.get("envFrom"):
        notes.append("its envFrom is not imported")
    command = [filled(word) for word in [*words, *arguments]]
    node: dict[str, Any] = {"action": "shell", "command": shlex.join(command)}
    if any(NO_TEXT.search(text) for text in [node["command"], *env, *env.values()]):
        raise Refused("its command or env has a character that the database takes nowhere")
    if env:
        node["env"] = env
    doubt = f"it has {lost[0]}, whose value is kept elsewhere: write it there" if lost else None
    return node, doubt
