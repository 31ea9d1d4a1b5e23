"""The handler of `lf-sql runs work`: a command for each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from lf_sql import environment
from lf_sql.command import Ended, Running
from lf_sql.executor.failures import Verdict
from lf_sql.executor.leases import Attempt
from lf_sql.executor.run import Run
from lf_sql.keeper import Keeper
from lf_sql.verdicts import RESULT_MOST, judge, spent_by


class Guarded:
    """A command that ends with its lease, whatever becomes of this process."""

    def __init__(self, start: Callable[[], Running], keeper: Keeper) -> None:
        self.running = start()
        self._keeper = keeper

    def held(self, until: float, kill_at: float) -> None:
        self._keeper.keep(self.running.group, until, kill_at)

    def lost(self) -> None:
        self.running.abandon()

    def end(self) -> None:
        self.running.end()

    def over(self, is_lost: bool) -> None:
        """It has ended."""
        self._keeper.forget(self.running.group)
        if is_lost:
            self.running.clear()


class Commands:
    """Gives the run as JSON to a command, whose output is the result."""

    def __init__(
        self, command: Sequence[str], dsn: str | None, ask: Callable[..., list[dict[str, Any]]]
    ) -> None:
        self._command = command
        self._dsn = dsn
        self._ask = ask
        self._keeper = Keeper()

    def close(self) -> None:
        self._keeper.close()

    def __call__(self, run: Run) -> Verdict:
        attempt = run.lease
        trace = {name.upper(): value for name, value in run.span.headers.items()}
        passed = environment.for_command(self._dsn)
        passed.pop("TRACESTATE", None)  # this process's own, of another trace
        environ = {**passed, **trace, "LF_RUN_ID": attempt.id}
        start = partial(Running, self._command, run.json.encode(), environ, RESULT_MOST)
        try:
            guarded = attempt.begin(lambda: Guarded(start, self._keeper))
        except OSError as error:
            missing = Ended(code=127, error=f"{self._command[0]}: {error.strerror}")
            return self._judged(run, attempt, missing)
        if guarded is None:
            return Verdict(None, "")
        ended = guarded.running.wait(run.timeout)
        attempt.ended()
        guarded.over(attempt.is_lost)
        if attempt.is_lost:
            return Verdict(None, "", spent_by(ended))
        return self._judged(run, attempt, ended)

    def _judged(self, run: Run, attempt: Attempt, ended: Ended) -> Verdict:
        ended = replace(ended, error=environment.clean(ended.error, self._dsn))
        attempt.over.set()  # how it ended is all that is left to tell
        return judge(partial(self._ask, who=attempt.id), run.timeout, ended)
