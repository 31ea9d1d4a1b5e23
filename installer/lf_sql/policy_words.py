"""What applies to a schedule's runs, in the words of the manual; of defaults nothing is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Policy = Mapping[str, Any]
MISSED = {
    "skip": "are skipped",
    "run_once": "get one run, for the newest",
    "backfill": "get a run each",
    "spread": "get a run each, spread over a while",
}
OVERLAP = {
    "skip": "is skipped",
    "queue": "waits until there is room",
    "replace": "starts; the oldest run is cancelled",
}


def in_words(policies: Policy, span: Callable[[int], str]) -> dict[str, str]:
    """Of the four policies that apply, a label and its text; `span` spells milliseconds."""
    found = {
        "approval": _approval(policies["approval_policy"], span),
        "retries": _retries(policies["retry_policy"], span),
        "if one fails": _failure(policies["failure_policy"]),
        **_queue(policies["queue_policy"], span),
    }
    return {label: text for label, text in found.items() if text}


def _approval(policy: Policy, span: Callable[[int], str]) -> str:
    parts = ["none needed"]
    if policy.get("requiresApproval", True):
        parts = ["each run waits for its owner's approval"]
        if "expiresAfterMs" in policy:
            parts[0] += f", {span(policy['expiresAfterMs'])} at most"
    if policy.get("mode"):
        parts.append(f"inside a run: {policy['mode'].replace('_', ' ')}")
    if policy.get("gates"):
        parts.append(f"gates: {', '.join(policy['gates'])}")
    return "; ".join(parts)


def _retries(policy: Policy, span: Callable[[int], str]) -> str:
    count = policy.get("maxRetries", 0)
    text = f"{count} at most" if count else "none"
    if count and policy.get("backoffMs"):
        text += f", the first after {span(policy['backoffMs'])}"
    if count and policy.get("retryOn"):
        text += f", only after {', '.join(policy['retryOn'])}"
    if "timeoutMs" in policy:
        text += f"; an attempt may take {span(policy['timeoutMs'])}"
    return text


def _failure(policy: Policy) -> str | None:
    match policy.get("mode"):
        case "halt":
            return "the schedule is paused (halt)"
        case "fallback":
            return f"{policy['fallbackAssigneeId']} gets the run (fallback)"
    return None


def _queue(policy: Policy, span: Callable[[int], str]) -> dict[str, str | None]:
    return {
        "overlap": _overlap(policy),
        "missed": _missed(policy, span),
        "priority": str(policy["priority"]) if policy.get("priority") else None,
    }


def _overlap(policy: Policy) -> str | None:
    most = 1 if policy.get("mode") == "serial" else policy.get("maxConcurrency")
    parts = []
    if most is not None:
        parts.append("one run at a time" if most == 1 else f"{most} runs at a time")
    if overlap := policy.get("onOverlap"):
        parts.append(f"a slot meanwhile {OVERLAP[overlap]} (onOverlap {overlap})")
    return "; ".join(parts) or None


def _missed(policy: Policy, span: Callable[[int], str]) -> str | None:
    missed = policy.get("onMissed")
    if not missed:
        return None
    text = MISSED[missed]
    if missed == "spread" and "spreadWindowMs" in policy:
        text = f"get a run each, spread over {span(policy['spreadWindowMs'])}"
    if missed in ("backfill", "spread") and "maxBackfill" in policy:
        text += f", {policy['maxBackfill']} at most"
    return f"slots {text} (onMissed {missed})"
