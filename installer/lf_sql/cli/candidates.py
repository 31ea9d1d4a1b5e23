"""Shell completion of the names of rows."""

from __future__ import annotations

import os
from typing import Any
from zoneinfo import available_timezones

import click
from click.shell_completion import CompletionItem

from lf_sql import db
from lf_sql.cli import lookup
from lf_sql.cli.context import Options


def complete(word: str, *statuses: str) -> Any:
    """Shell completion of names and ids of a kind; silent where the database does not answer.

    `statuses`: only runs in one of them.
    """

    def candidates(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        os.environ.setdefault("PGCONNECT_TIMEOUT", "2")  # a user waits for the completion
        asked = ctx.ensure_object(Options)
        try:
            with db.connect(asked.dsn, application_name="lf-sql") as conn:
                rows = lookup.candidates(conn, word, incomplete, asked.as_user, statuses)
        except Exception:  # a shell that completes a word cannot show an error
            return []
        return [CompletionItem(row[0], help=row[1]) for row in rows]

    return candidates


def zones(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Shell completion of names of zones."""
    begins = incomplete.casefold()
    return [name for name in sorted(available_timezones()) if name.casefold().startswith(begins)]
