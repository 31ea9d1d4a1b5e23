"""The variables of an older scheduler name a setting that exists."""

from __future__ import annotations

import pytest

from lf_sql import former


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DEFAULT_OVERLAP_POLICY", "allow", "set default_queue_mode parallel"),
        ("DEFAULT_OVERLAP_POLICY", "skip", "set default_queue_mode serial"),
        ("DEFAULT_OVERLAP_POLICY", "queue", "default_on_overlap queue"),
        ("DEFAULT_OVERLAP_POLICY", "what?", "set default_queue_mode, and default_on_overlap"),
        ("DEFAULT_CATCHUP_POLICY", "none", "set default_on_missed skip"),
        ("DEFAULT_CATCHUP_POLICY", "fire_immediately", "set default_on_missed backfill"),
        ("DEFAULT_CATCHUP_POLICY", "Spread", "set default_on_missed spread"),
        ("DEFAULT_JITTER_MS", "500", "set default_jitter_ms 500"),
        ("DEFAULT_JITTER_MS", "soon", "set default_jitter_ms"),
    ],
)
def test_one_line_a_variable(name: str, value: str, says: str) -> None:
    (line,) = former.lines({name: value, "TICK_MS": "1000"})
    assert line.startswith(f"{name} has no effect") and says in line
    assert "\n" not in line


def test_nothing_is_said_of_what_is_not_set() -> None:
    assert list(former.lines({"DEFAULT_JITTER_MS": " ", "MAX_CATCHUP_PER_TICK": "3"})) == []
