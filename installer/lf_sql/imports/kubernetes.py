"""Kubernetes CronJobs, from their manifests (or `kubectl get cronjobs -A -o yaml`)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Any

import yaml

from lf_sql.durations import duration, spelt
from lf_sql.errors import LfSqlError
from lf_sql.imports import cron
from lf_sql.imports.found import Job, Left, Refused

OVERLAP = {
    "Allow": {"mode": "parallel"},
    "Forbid": {"mode": "serial", "onOverlap": "skip"},
    "Replace": {"mode": "serial", "onOverlap": "replace"},
}
GRACE = 120  # seconds: what is no later than missed_grace counts as on time
_ZONE = re.compile(r"(?:CRON_)?TZ=(\S+)\s+(.*)")


def read(text: str, file: str, timezone: str) -> list[Job | Left]:
    """Every CronJob in it, lists opened; other kinds are passed over."""
    try:
        documents = list(yaml.load_all(text, yaml.SafeLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        said = " ".join(str(error).split())
        raise LfSqlError(f"{file}: this is no YAML: {said}") from None
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


def _job(name: str, spec: dict[str, Any], timezone: str) -> Job:
    schedule, notes = _when(str(spec.get("schedule") or "").strip(), spec, timezone)
    policy = spec.get("concurrencyPolicy", "Allow")
    if policy not in OVERLAP:
        raise Refused(f'Kubernetes itself does not read concurrencyPolicy "{policy}"')
    deadline = spec.get("startingDeadlineSeconds")
    missed = "skip" if deadline is not None and deadline <= GRACE else "run_once"
    schedule["queue"] = {**OVERLAP[policy], "onMissed": missed}
    if deadline is not None:
        notes.append(
            f"startingDeadlineSeconds {deadline}: a slot that comes late is "
            + ("dropped" if missed == "skip" else "run once, however late")
        )
    if spec.get("suspend"):
        schedule["enabled"] = False
    job = _object(_object(spec.get("jobTemplate")).get("spec"))
    retry: dict[str, Any] = {"maxRetries": min(job.get("backoffLimit", 6), 1000)}
    if job.get("activeDeadlineSeconds"):
        retry["timeoutMs"] = job["activeDeadlineSeconds"] * 1000
    schedule["retry"] = retry
    pod = _object(_object(job.get("template")).get("spec"))
    containers = pod.get("containers") or []
    if len(containers) != 1:
        raise Refused(
            f"it runs {len(containers)} containers, and one command can be imported; "
            "write a script that runs them, or kubectl create job --from=cronjob/…"
        )
    container = _object(containers[0])
    if pod.get("initContainers"):
        notes.append("its initContainers are not imported")
    return Job(name, schedule, _node(name, container, notes), notes)


def _when(text: str, spec: dict[str, Any], timezone: str) -> tuple[dict[str, Any], list[str]]:
    zone = spec.get("timeZone") or timezone
    prefix = _ZONE.fullmatch(text)
    if prefix:
        zone, text = prefix[1], prefix[2]
    if text.startswith("@every"):
        length = duration(text.removeprefix("@every").strip())
        if length is None:
            raise Refused(f'Kubernetes itself does not read "{text}"')
        if length.total_seconds() < 300:
            minutes = max(1, round(length.total_seconds() / 60))
            near = "* * * * *" if minutes == 1 else f"*/{minutes} * * * *"
            raise Refused(f'an interval has five minutes at least; near it is cron: "{near}"')
        every = spelt(round(length.total_seconds() * 1000))
        return {"every": every}, ["@every counts from when it is created, there as here"]
    if text.startswith("@"):
        if text not in cron.NICKNAMES:
            raise Refused(f'Kubernetes itself does not read "{text}"')
        return {"cron": cron.NICKNAMES[text], "timezone": zone}, []
    expression, notes = cron.translated(text.split(), cron.KUBERNETES)
    return {"cron": expression, "timezone": zone}, notes


def _node(name: str, container: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    command = [str(word) for word in container.get("command") or []]
    arguments = [str(word) for word in container.get("args") or []]
    if not command:
        raise Refused(
            f"what it runs is in the image {container.get('image')}; write command: in the "
            "manifest, or run kubectl create job --from=cronjob/…"
        )
    notes.append(f"it ran in the image {container.get('image')}")
    node: dict[str, Any] = {"action": "shell", "command": shlex.join(command + arguments)}
    env = {}
    for variable in container.get("env") or []:
        if "value" in variable:
            env[str(variable.get("name"))] = str(variable["value"])
        else:
            notes.append(f"its variable {variable.get('name')} is kept elsewhere: not imported")
    if container.get("envFrom"):
        notes.append("its envFrom is not imported")
    if env:
        node["env"] = env
    return node
