"""lf-sql console: the local web page."""

from __future__ import annotations

import ipaddress
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from uuid import UUID

import click

from lf_sql import tenancy
from lf_sql.cli.context import connect, note, options, require_installed
from lf_sql.cli.params import Filled, Host
from lf_sql.errors import LfSqlError
from lf_sql.listening import listen, reached_at


@click.command(
    epilog="\b\nExamples:\n  lf-sql console --as 3f0c6f0e-6f0f-4c3e-9d5b-0c9a4a1f7a11\n"
    "  lf-sql console --as USER_UUID --port 9000"
)
@click.option(
    "--host",
    type=Host(),
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8377,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    type=Filled(),
    multiple=True,
    metavar="NAME",
    help="A further host name under which browsers may reach it.",
)
def command(host: str, port: int, allow_hosts: tuple[str, ...]) -> None:
    """Serve the console: Observe, runs, approvals, timeline, calendars, the builder, health.

    Acts as the tenant of --as, through the same roles and functions as every client. Only this
    machine reaches it unless --host says otherwise; the address that is printed works once.
    """
    given = options().as_user
    if given is None:
        raise click.UsageError("the console acts as one tenant: name it with --as USER_UUID")
    try:
        user_id = UUID(given)
    except ValueError:
        raise click.UsageError(f"--as wants the uuid of a user, not {given!r}") from None
    with connect() as conn:
        require_installed(conn)
        with conn.transaction():
            tenancy.become(conn, user_id)
            tenancy.require(conn, user_id)
    with serving(options().dsn, user_id, host, port, allow_hosts) as served:
        click.echo(served.link)
        note(f"acting as {served.tenant}; the address works once; Ctrl-C ends it")
        if not served.is_local:
            note("other machines reach it too, and nothing is encrypted: put TLS in front of it")
        served.run()


@dataclass(frozen=True)
class Served:
    """A console that listens; `link` is its address, which works once."""

    link: str
    tenant: str
    is_local: bool
    run: Callable[[], None]
    """Answer until Ctrl-C or SIGTERM."""


@contextmanager
def serving(
    dsn: str | None, user_id: UUID, host: str, port: int, allow_hosts: tuple[str, ...] = ()
) -> Iterator[Served]:
    """A console that acts as one tenant. LfSqlError: the extra is not installed, or no port."""
    try:
        import uvicorn

        from lf_sql.console.app import create_app, find_tenant
        from lf_sql.console.database import Database
        from lf_sql.console.security import Gate
    except ImportError as error:
        raise LfSqlError(
            f"the console needs a package that is not here: {error.name}",
            "pip install 'lf-sql[console]'",
        ) from None

    database = Database(dsn, user_id)
    tenant = find_tenant(database, user_id)
    hint = "choose another --port, or 0 for a free one"
    with listen(host, port, 128, hint) as listener:
        port = listener.getsockname()[1]
        gate = Gate(port)
        app = create_app(database, gate, tenant=tenant, host=host, extra_hosts=allow_hosts)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )

        def run() -> None:
            # The server ends its answers first, then raises the signal again: a clean end.
            signal.signal(signal.SIGTERM, _end)
            with suppress(KeyboardInterrupt):
                uvicorn.Server(config).run(sockets=[listener])

        is_local = ipaddress.ip_address(listener.getsockname()[0]).is_loopback
        link = f"http://{reached_at(host)}:{port}/?token={gate.link}"
        yield Served(link, tenant, is_local, run)


def _end(*_: object) -> None:
    raise SystemExit(0)
