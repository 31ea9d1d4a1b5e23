"""What holds for every command there is, taken from the click tree."""

from __future__ import annotations

from tests.support.reading import CHANGES, ELSEWHERE, READS, leaves


def test_each_is_known_to_read_or_to_change() -> None:
    known = [*READS, *CHANGES, *ELSEWHERE]
    assert len(known) == len(set(known))
    assert set(leaves()) == set(known)
