"""Policies as people read them: a label and its text, and nothing about what is no decision."""

from __future__ import annotations

from typing import Any

import pytest

from lf_sql.durations import spelt as span
from lf_sql.policies import DEFAULTS
from lf_sql.policy_words import MISSED, OVERLAP, in_words
from tests.support.pages import FIRST


def test_of_defaults_only_approval_and_retries_are_told() -> None:
    assert in_words(DEFAULTS, span) == {
        "approval": "each run waits for its owner's approval",
        "retries": "1 at most",
    }


@pytest.mark.parametrize(
    ("policy", "value", "label", "said"),
    [
        ("approval", {"requiresApproval": False}, "approval", "none needed"),
        ("approval", {"expiresAfterMs": 3_600_000, "gates": ["pay", "mail"]}, "approval",
         "each run waits for its owner's approval, 1h at most; gates: pay, mail"),
        ("approval", {"requiresApproval": False, "mode": "every_node"}, "approval",
         "none needed; inside a run: every node"),
        ("retry", {"maxRetries": 0, "backoffMs": 1000}, "retries", "none"),
        ("retry", {"maxRetries": 3, "backoffMs": 60_000, "retryOn": ["timeout", "rate_limit"],
                   "timeoutMs": 5_400_000}, "retries",
         "3 at most, the first after 1m, only after timeout, rate_limit; "
         "an attempt may take 1h 30m"),
        ("failure", {"mode": "halt"}, "if one fails", "the schedule is paused (halt)"),
        ("failure", {"mode": "fallback", "fallbackAssigneeId": "x"}, "if one fails",
         "x gets the run (fallback)"),
        ("queue", {"mode": "serial", "onOverlap": "queue"}, "overlap",
         "one run at a time; a slot meanwhile waits until there is room (onOverlap queue)"),
        ("queue", {"maxConcurrency": 3}, "overlap", "3 runs at a time"),
        ("queue", {"onMissed": "backfill", "maxBackfill": 24}, "missed",
         "slots get a run each, 24 at most (onMissed backfill)"),
        ("queue", {"onMissed": "spread", "spreadWindowMs": 600_000}, "missed",
         "slots get a run each, spread over 10m (onMissed spread)"),
        ("queue", {"priority": 7}, "priority", "7"),
    ],
)  # fmt: skip
def test_what_is_decided_is_told(policy: str, value: Any, label: str, said: str) -> None:
    assert in_words({**DEFAULTS, f"{policy}_policy": value}, span)[label] == said


def test_the_words_are_those_of_the_readme() -> None:
    text = FIRST.read_text(encoding="utf-8")
    for words in (*MISSED.values(), *OVERLAP.values()):
        assert f"| {words}" in text, words
