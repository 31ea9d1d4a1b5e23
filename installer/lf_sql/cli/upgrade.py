"""lf-sql upgrade: the same as install; the word that people look for."""

from __future__ import annotations

import click

from lf_sql.cli import install

command = click.Command(
    "upgrade",
    params=list(install.command.params),
    callback=install.command.callback,
    help="Bring the database to this version: the same as install.",
    epilog="\b\nExample:\n  pip install --upgrade lf-sql && lf-sql upgrade",
)
