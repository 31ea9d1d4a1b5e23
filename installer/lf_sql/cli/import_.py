"""lf-sql import: what is there already, as a file for apply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import click

from lf_sql import streams
from lf_sql.cli.candidates import zones
from lf_sql.cli.context import connect, note, options
from lf_sql.cli.lazy import SuggestingGroup
from lf_sql.cli.params import Filled
from lf_sql.errors import LfSqlError
from lf_sql.imports import crontab as crontabs
from lf_sql.imports import found, kubernetes, pg_cron, pg_timetable
from lf_sql.imports import zones as found_zones
from lf_sql.plain import dumps

PARTIAL = click.option(
    "--allow-partial", is_flag=True, help="Exit 0 even if something could not be imported."
)


def _zone(ctx: click.Context, param: click.Parameter, value: str) -> str:
    said = found_zones.trouble(value)
    if said:
        raise click.BadParameter(said, ctx, param)
    return value


ZONE = click.option(
    "--tz",
    "--timezone",
    "timezone",
    default="UTC",
    show_default=True,
    shell_complete=zones,
    callback=_zone,
    help="Zone of its clock.",
)
FILE = click.argument("file", type=click.File("rb"), default="-")


def project_option(name: str) -> Callable[[Any], Any]:
    """--project, the name in the file."""
    return click.option(
        "--project", type=Filled(), default=name, show_default=True, help="project: of the file."
    )


def tell(
    project: str, heading: str, jobs: Sequence[found.Job | found.Left], allow_partial: bool
) -> None:
    """The file on standard output, what was refused on standard error."""
    jobs = found.checked(jobs)
    count = sum(isinstance(job, found.Job) for job in jobs)
    lines = [
        heading,
        f"{count} imported, {sum(isinstance(j, found.Left) and not j.is_fine for j in jobs)} "
        "refused. Look it through, then: lf-sql diff FILE, lf-sql apply FILE",
    ]
    text, refused = found.file(project, lines, jobs)
    if options().as_json:
        click.echo(
            dumps(
                {
                    "file": text,
                    "imported": count,
                    "refused": [{"what": one.where, "reason": one.reason} for one in refused],
                }
            )
        )
    else:
        click.echo(text, nl=False)
    for one in refused:
        note(f"refused: {one.where}: {one.reason}")
    doubts = [(job.title, job.doubt) for job in jobs if isinstance(job, found.Job) and job.doubt]
    for doubt in dict.fromkeys(doubt for _, doubt in doubts):
        titles = [title for title, one in doubts if one == doubt]
        more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
        note(f'look at "{titles[0]}"{more}: {doubt}')
    note(f"{count} imported, {len(refused)} refused")
    if refused and not allow_partial:
        raise click.exceptions.Exit(1)


def _text(file: IO[bytes]) -> str:
    is_stdin = file.name in (0, "<stdin>")
    data: bytes = streams.read() if is_stdin else file.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise LfSqlError(f"{file.name}:{line}: this is not UTF-8", "save it in UTF-8") from None


@click.command(
    "crontab",
    epilog="\b\nExamples:\n  crontab -l | lf-sql import crontab --tz Europe/Berlin > jobs.yaml\n"
    "  lf-sql import crontab --system /etc/crontab > system.yaml",
)
@FILE
@click.option(
    "--system",
    "is_system",
    is_flag=True,
    help="Each command has a user before it (a system crontab).",
)
@ZONE
@project_option("crontab")
@PARTIAL
def crontab(
    file: IO[bytes], is_system: bool, timezone: str, project: str, allow_partial: bool
) -> None:
    """A crontab, from FILE or standard input."""
    jobs = crontabs.read(_text(file), is_system, timezone)
    heading = f"From the crontab {Path(file.name).name}, its clock in {timezone} or CRON_TZ."
    tell(project, heading, jobs, allow_partial)


@click.command(
    "pg-cron",
    epilog="\b\nExample:\n  lf-sql import pg-cron --dsn postgresql://db/postgres > jobs.yaml",
)
@project_option("pg-cron")
@PARTIAL
def pg_cron_(project: str, allow_partial: bool) -> None:
    """The jobs of pg_cron that the connected role may see."""
    with connect() as conn:
        jobs = pg_cron.read(conn)
    tell(project, "From pg_cron.", jobs, allow_partial)


@click.command(
    "kubernetes",
    epilog="\b\nExample:\n  kubectl get cronjobs -A -o yaml | lf-sql import kubernetes > jobs.yaml",
)
@FILE
@ZONE
@project_option("kubernetes")
@PARTIAL
def kubernetes_(file: IO[bytes], timezone: str, project: str, allow_partial: bool) -> None:
    """Kubernetes CronJobs, from FILE or standard input."""
    jobs = kubernetes.read(_text(file), file.name, timezone)
    tell(project, f"From Kubernetes, its clock in {timezone} or timeZone.", jobs, allow_partial)


@click.command(
    "pg-timetable",
    epilog="\b\nExample:\n  lf-sql import pg-timetable --dsn postgresql://db/app > jobs.yaml",
)
@project_option("pg-timetable")
@PARTIAL
def pg_timetable_(project: str, allow_partial: bool) -> None:
    """The chains of pg_timetable."""
    with connect() as conn:
        jobs = pg_timetable.read(conn)
    tell(project, "From pg_timetable.", jobs, allow_partial)


group = SuggestingGroup(
    "import",
    help="Import what other schedulers have, as a file for `lf-sql apply`.",
    epilog="\b\nExample:\n  crontab -l | lf-sql import crontab > jobs.yaml; lf-sql diff jobs.yaml",
    commands=[crontab, pg_cron_, kubernetes_, pg_timetable_],
)
