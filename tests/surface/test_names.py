"""What a command says of a name that is no row's, or of several."""

from __future__ import annotations

import pytest

from tests.support.command import Command


@pytest.fixture
def two(lf: Command, workflow: str) -> tuple[str, str]:
    """The ids of two schedules without a name, of one workflow: its title names neither."""
    args = ("schedule", "create", workflow, "--cron")
    return lf(*args, "0 9 * * *").first, lf(*args, "0 10 * * *").first


@pytest.mark.parametrize(
    "command", [("update", "--cron", "0 8 * * *"), ("show",), ("pause",), ("run-now",)]
)
def test_the_title_of_several_schedules_leads_to_their_ids(
    lf: Command, two: tuple[str, str], command: tuple[str, ...]
) -> None:
    first, second = two
    answer = lf("schedule", command[0], "Nightly report", *command[1:], code=1)
    assert answer.err.splitlines() == [
        "error: there is no schedule 'Nightly report'",
        "hint: the workflow 'Nightly report' has schedules, say which by its id: "
        f"{first[:8]} (0 9 * * *), {second[:8]} (0 10 * * *); lf-sql schedule list",
    ]
    lf("schedule", command[0], first[:8], *command[1:])


def test_the_title_of_one_schedule_is_its_name(lf: Command, workflow: str) -> None:
    lf("schedule", "create", workflow, "--cron", "0 9 * * *")
    assert "did you mean 'Nightly report'?" in lf("schedule", "show", "Nightly repor", code=1).err
    lf("schedule", "show", "Nightly report")


def test_another_tenants_schedules_are_not_named(
    lf: Command, two: tuple[str, str], workflow: str
) -> None:
    other = "00000000-0000-4000-8000-0000000000ab"
    lf("tenant", "create", "other", "--user-id", other)
    answer = lf("schedule", "show", "Nightly report", "--as", other, code=1)
    assert answer.err.splitlines()[-1] == "hint: lf-sql schedule list"
