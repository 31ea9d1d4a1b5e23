"""`lf-sql` and `lf`. Each module beside this one is a command, loaded when it is asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click
import psycopg

from lf_sql import __version__, db, streams
from lf_sql.cli.context import Options, adopt
from lf_sql.cli.lazy import RootGroup, Unread
from lf_sql.cli.terminal import prose
from lf_sql.errors import LfSqlError

EXAMPLES = """\b
Examples:
  lf-sql demo  # watch schedules fire, no server needed
  lf-sql install --dsn postgresql://postgres@db.example.org/app
  lf-sql schedule create WORKFLOW --cron "0 9 * * 1-5" --tz Europe/Istanbul
  lf-sql schedule health
"""


@click.group(
    cls=RootGroup,
    epilog=EXAMPLES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="lf-sql")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """A scheduler that lives in PostgreSQL.

    The connection is --dsn, else LF_SQL_DSN, DATABASE_URL, or libpq's own variables.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


adopt(cli)


def main(argv: Sequence[str] | None = None) -> None:
    """The console script: whatever happens, one line and a hint, never a traceback."""
    streams.complete()
    code = run(argv)
    streams.drop_stuck_stderr()
    sys.exit(code)


def run(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 fine, 1 the answer is bad news, 2 wrong usage, 130 interrupted."""
    # A number of a jsonb value may have 131,072 digits; Python reads 4,300 unless it is told to.
    sys.set_int_max_str_digits(0)
    try:
        code = cli.main(
            args=list(argv) if argv is not None else None,
            prog_name="lf-sql",
            standalone_mode=False,
            obj=Options(),
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:  # a group without a command: its help
        prose.on_stderr(error.format_message())
        return 2
    except click.UsageError as error:
        _complain(error.format_message(), _help_of(error))
        return 2
    except click.ClickException as error:
        _complain(error.format_message(), None)
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted", None)
        return 130
    except (BrokenPipeError, Unread):  # `lf-sql ... | head`
        streams.drop_stdout()
        return 0
    except LfSqlError as error:
        _complain(error.message, error.hint)
        return error.exit_code
    except psycopg.Error as error:
        _complain(*db.describe(error))
    except Exception as error:  # the last resort: a traceback is for developers
        if isinstance(error, OSError) and streams.is_of_stdout(error):
            streams.drop_stdout()
            _complain(f"cannot write to standard output: {error.strerror}", None)
            return 1
        if os.environ.get("LF_SQL_DEBUG"):
            raise
        _complain(
            f"internal error: {type(error).__name__}: {' '.join(str(error).split())}",
            "please report it; LF_SQL_DEBUG=1 shows where it happened",
        )
    return 1


def _help_of(error: click.UsageError) -> str | None:
    """The hint that leads to the help."""
    return f"{error.ctx.command_path} --help" if error.ctx else "lf-sql --help"


def _complain(message: str, hint: str | None) -> None:
    message = " ".join(message.split()).removeprefix("Error: ").removeprefix("error: ")
    prose.aside(message, "error: ", "red", bold=True)
    if hint:
        prose.aside(hint, "hint: ", "yellow")
