"""Standard input and output where they are closed, full or no file: one line says so."""

from __future__ import annotations

import errno
import os
import sys
from typing import TextIO

from lf_sql.errors import LfSqlError

# Of a write to a file that has no name here, as standard output has none.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


def complete() -> None:
    """Python has None for a standard stream that is closed. What stands there instead refuses to
    be read, or written, and keeps its number from the next file or socket that is opened."""
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_WRONLY), encoding="utf-8")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8")


def read() -> bytes:
    """All of standard input."""
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise LfSqlError(f"cannot read standard input: {error.strerror}") from None


def is_of_stdout(error: OSError) -> bool:
    """Whether it came of writing to standard output, where what could not be written still is."""
    try:
        sys.stdout.flush()
    except OSError:
        return True
    return error.filename is None and error.errno in NO_ROOM


def drop_stdout() -> None:
    """What is left to be written goes nowhere, so that the interpreter's end does not fail too."""
    _drop(sys.stdout)


def drop_stuck_stderr() -> None:
    """The same for standard error, where it cannot be written."""
    try:
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
