"""What a mistyped word was probably meant to be, where one is near enough."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

CUTOFF = 0.7  # of 1, which is the same word: less than this and a suggestion is a riddle
BEGINNING = 3  # characters of a word that say which


def nearest(typed: str, known: Iterable[str]) -> str | None:
    """The known word that `typed` misspells, or alone begins; None where none is near."""
    folded = {word.casefold(): word for word in known}
    text = typed.casefold()
    begun = [word for word in folded if len(text) >= BEGINNING and word.startswith(text)]
    found = begun if len(begun) == 1 else difflib.get_close_matches(text, folded, 1, CUTOFF)
    return folded[found[0]] if found else None


def the_nearest(typed: str, known: Iterable[str]) -> str:
    """The same as the end of a message: `; the nearest is "closing"`, or nothing."""
    near = nearest(typed, known)
    return f'; the nearest is "{near}"' if near else ""
