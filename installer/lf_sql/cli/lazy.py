"""Click groups: one whose commands are modules, and the suggestion for a mistyped command."""

from __future__ import annotations

import importlib
import keyword
import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import psycopg

from lf_sql.cli import wording
from lf_sql.cli.context import adopt
from lf_sql.cli.terminal import prose
from lf_sql.errors import WrongUsage
from lf_sql.near import nearest

NOT_COMMANDS = {
    "candidates", "changes", "context", "lazy", "lookup", "output", "params", "progress", "report",
    "session", "terminal", "where", "wording",
}  # fmt: skip
PACKAGE = "lf_sql.cli"
# What the server says of values that it was given (SQLSTATE class 22: data exceptions).
WRONG_USE = "22"
UNCUT = 10_000  # characters of a first sentence: it is folded


class SuggestingGroup(click.Group):
    """A group that suggests the right command for a mistyped one, and whose help cuts nothing.

    What the server says of the values of its commands, it says in the words of their options.
    """

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith(WRONG_USE):
                raise
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise WrongUsage(*wording.described(error, command)) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(UNCUT))
            for name, command in found
            if command is not None and not command.hidden
        ]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            near = nearest(args[0], names)
            hint = f" Did you mean {near!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


def taking(option: str) -> type[click.Command]:
    """A command whose last argument may be written as an option too, which no help shows."""

    class Taking(click.Command):
        def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
            for place, word in enumerate(args):
                if word == "--":
                    break
                name, is_joined, value = word.partition("=")
                if name != option:
                    continue
                rest = args[place + 1 :] if is_joined else args[place + 2 :]
                if not is_joined and place + 1 == len(args):
                    raise click.BadOptionUsage(option, f"Option {option!r} requires an argument.")
                value = value if is_joined else args[place + 1]
                args = [*args[:place], *rest, "--", value]
                break
            return super().parse_args(ctx, args)

    return Taking


class LazyGroup(SuggestingGroup):
    """`lf-sql foo-bar` is `command` or `group` of lf_sql.cli.foo_bar; `import` that of import_."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        found = pkgutil.iter_modules([str(Path(__file__).parent)])
        return sorted(
            m.name.rstrip("_").replace("_", "-") for m in found if m.name not in NOT_COMMANDS
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        name = cmd_name.replace("-", "_")
        if keyword.iskeyword(name):
            name += "_"
        module = importlib.import_module(f"{PACKAGE}.{name}")
        command: click.Command = getattr(module, "group", None) or module.command
        return adopt(command)


class Unread(Exception):
    """Whoever read standard output has gone."""


class RootGroup(LazyGroup):
    """The group that is run. Click exits with 1 where nobody reads any more, and at Ctrl-C writes
    to a standard error that may be full; so neither reaches it."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _before_click():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _before_click():
            return super().invoke(ctx)


@contextmanager
def _before_click() -> Iterator[None]:
    """Unread: a reader has gone. click.Abort: interrupted."""
    try:
        yield
    except BrokenPipeError as error:
        raise Unread from error
    except KeyboardInterrupt:
        prose.on_stderr("")  # ends the line of ^C
        raise click.Abort from None
