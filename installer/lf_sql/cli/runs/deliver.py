"""lf-sql runs deliver: runs go to HTTP endpoints."""

from __future__ import annotations

import os
import re

import click

from lf_sql import webhook
from lf_sql.cli.context import options
from lf_sql.cli.params import Duration, Filled
from lf_sql.cli.runs.carry_out import carry_out, lease_of
from lf_sql.environment import WEBHOOK_SECRET
from lf_sql.errors import LfSqlError
from lf_sql.executor import Executor
from lf_sql.executor.handlers import Handler

EPILOG = """
Each run is posted as JSON (id, attempt, worker_id, context_inputs and definition among its
keys), signed as Standard Webhooks are, with the secret whsec_... of LF_SQL_WEBHOOK_SECRET;
two, with a blank between, while one replaces the other. webhook-id is RUN:ATTEMPT, and
traceparent makes the request part of the run's trace.

\b
  200, a JSON object  completes the run with it; its spent_credits are booked
  202                 the endpoint calls fn_complete_workflow_run, with the
                      worker_id and attempt that it got, within --lease
  408 425 429 5xx     another attempt by policy, no sooner than Retry-After;
                      so does no answer
  anything else       fails the run as contract_violated
\b
Examples:
  lf-sql runs deliver --url https://jobs.example.org/run
  lf-sql runs deliver --route "nightly report=https://reports.example.org/run"
"""


ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
ROUTE = re.compile(r"(.+?)=(https?://.+)", re.DOTALL)


def _url(text: str) -> str:
    from lf_sql.deliver import is_url

    if not is_url(text):
        raise click.BadParameter(f"an http or https URL is wanted, not {text!r}")
    return text


def _routes(routes: tuple[str, ...]) -> list[tuple[str, str]]:
    found = []
    for route in routes:
        if not (match := ROUTE.fullmatch(route)) or not match[1].strip():
            raise click.BadParameter(f"TITLE=URL is wanted, not {route!r}")
        found.append((match[1], _url(match[2])))
    return found


def _keys(unsigned: bool) -> list[bytes]:
    secret = os.environ.get(WEBHOOK_SECRET, "")
    if unsigned:
        return []
    if not secret.strip():
        raise LfSqlError(
            f"{WEBHOOK_SECRET} is not set: nobody could tell that a request is ours",
            f'export {WEBHOOK_SECRET}="whsec_$(openssl rand -base64 32)", or --unsigned',
        )
    try:
        return webhook.keys_of(secret)
    except ValueError as error:
        hint = 'make one: "whsec_$(openssl rand -base64 32)"'
        raise LfSqlError(f"{WEBHOOK_SECRET}: {error}", hint) from None


@click.command("deliver", epilog=EPILOG)
@click.option("--url", help="The URL to post runs to.")
@click.option(
    "--route",
    "routes",
    metavar="TITLE=URL",
    multiple=True,
    help="The URL for runs of the workflow TITLE. May be repeated.",
)
@click.option(
    "--workflow",
    "workflows",
    type=Filled(),
    metavar="TITLE|ID",
    multiple=True,
    help="Only runs of this workflow go to --url. May be repeated.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Requests at once to each URL.",
)
@click.option(
    "--timeout",
    type=Duration(),
    default="30s",
    show_default=True,
    help="How long a whole answer may take.",
)
@click.option(
    "--lease",
    type=Duration(),
    default="5m",
    show_default=True,
    help="How long a run may take after a 202.",
)
@click.option(
    "--poll",
    type=Duration(),
    default="5s",
    show_default=True,
    help="How often to look for runs at least.",
)
@click.option("--once", is_flag=True, help="Stop when there is nothing left to claim.")
@click.option(
    "--unsigned", is_flag=True, help="Do not sign requests: the endpoint then believes any caller."
)
def command(
    url: str | None,
    routes: tuple[str, ...],
    workflows: tuple[str, ...],
    concurrency: int,
    timeout: int,
    lease: int,
    poll: int,
    once: bool,
    unsigned: bool,
) -> None:
    """Claim runs and post each to an HTTP endpoint, whose answer is its end.

    Only runs of workflows that have a URL are claimed, and a slow endpoint takes the places of its
    own URL alone. SIGTERM lets what is under way finish; a second one ends it, a third leaves what
    the server has not taken yet.
    """
    try:
        from lf_sql.deliver import Endpoint
    except ImportError as error:
        raise LfSqlError(
            f"deliveries need a package that is not here: {error.name}",
            "pip install 'lf-sql[executor]'",
        ) from None
    targets = _routes(routes)
    if url is None and (not targets or workflows):
        raise click.UsageError("give --url URL, or --route TITLE=URL")
    keys = _keys(unsigned)
    seconds = lease_of(lease)
    if timeout < 1:
        raise click.UsageError("--timeout must be a millisecond at least")
    default = [] if url is None else [_url(url)]
    endpoints = {
        address: Handler.of(Endpoint(address, keys, timeout / 1000), concurrency)
        for address in [*default, *(address for _, address in targets)]
    }
    executor = Executor(
        options().dsn,
        concurrency=concurrency * len(endpoints),
        lease=seconds,
        poll=max(poll / 1000, 0.05),
        once=once,
        application="lf-sql runs deliver",
    )
    try:
        for title, address in targets:
            executor.handlers.add(endpoints[address], title)
        for name in workflows if url is not None else ():
            key = {"id": name} if ID.fullmatch(name) else {"title": name}
            executor.handlers.add(endpoints[url or ""], **key)
        if url is not None and not workflows:
            executor.handlers.add(endpoints[url])
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    carry_out(executor, once)
