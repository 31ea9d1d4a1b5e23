"""Makes text from anywhere safe for a terminal: one line, in the order in which it is written."""

from __future__ import annotations

import json
from typing import Any

# What moves the cursor, ends a line, or turns the reading direction: the control characters C0, DEL
# and C1, the bidirectional marks, embeddings, overrides and isolates, the line and paragraph
# separators, and halves of surrogate pairs, which no output can encode.
_UNSAFE = [
    *range(0x20),
    *range(0x7F, 0xA0),
    0x61C,
    *range(0x200E, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
]
_WORDS = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
_ESCAPES = {
    code: _WORDS.get(code) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
    for code in _UNSAFE
}
_ESCAPES_OF_LINES = {code: text for code, text in _ESCAPES.items() if code != 0x0A}


def plain(text: object) -> str:
    """One line; what is unsafe stands there as its escape: a line break as `\\n`."""
    return str(text).translate(_ESCAPES)


def plain_lines(text: object) -> str:
    """As `plain`, but lines stay lines: for what is stored, or told to a person who wants them."""
    return str(text).translate(_ESCAPES_OF_LINES)


def dumps(value: Any, default: Any = None) -> str:
    """JSON of ASCII alone, all of it visible; its own line breaks are the only ones."""
    return json.dumps(value, default=default, indent=2).replace("\x7f", "\\u007f")
