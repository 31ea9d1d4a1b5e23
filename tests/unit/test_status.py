"""What `lf-sql status` says is pending."""

from __future__ import annotations

import pytest

from lf_sql.cli.status import _pending


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        ([], "nothing"),
        (["sources changed"], "sources changed"),
        (["migration 0001_a", "migration 0002_b"], "migration 0001_a; migration 0002_b"),
        (["migration 0001_a", "migration 0002_b", "migration 0003_c", "first install"],
         "3 migrations, 0001_a to 0003_c; first install"),
    ],
)  # fmt: skip
def test_many_migrations_are_told_by_the_first_and_the_last(reasons: list[str], said: str) -> None:
    assert _pending(reasons) == said
