"""What a shell offers where the name of a row is to be written."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import CompletionItem

from lf_sql import db
from lf_sql.cli import lookup
from lf_sql.cli.context import Options


def complete(word: str) -> Any:
    """Shell completion of ids (and names) of a kind; silent where the database does not answer."""

    def candidates(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        os.environ.setdefault("PGCONNECT_TIMEOUT", "2")  # a key was pressed, somebody waits
        try:
            with db.connect(ctx.ensure_object(Options).dsn, application_name="lf-sql") as conn:
                rows = lookup.candidates(conn, word, incomplete)
        except Exception:  # a shell that is asked for a word has no use for an error
            return []
        return [CompletionItem(row[0], help=row[1]) for row in rows]

    return candidates
