"""Errors that a user sees: one line, and where there is one, a way out."""

from __future__ import annotations


class LfSqlError(Exception):
    """The answer is bad news; exit code 1. `message` is one line, `hint` says what to do."""

    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class WrongUsage(LfSqlError):
    """What was asked for cannot be meant; nothing was done."""

    exit_code = 2


class Refusal(LfSqlError):
    """The installer will not touch this database; nothing was changed."""


class CannotConnect(LfSqlError):
    """No session. `kind` is as in trouble.py, or `nobody` where no server answers."""

    def __init__(self, message: str, hint: str | None, kind: str) -> None:
        super().__init__(message, hint)
        self.kind = kind


class Stopped(LfSqlError):
    """Stopped while waiting for the server."""
