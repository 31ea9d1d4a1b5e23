"""lf-sql runs work: a command for each run, and every way in which it can end."""

from __future__ import annotations

import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.database import Database, Tenant, as_user, wait_until
from tests.support.processes import running
from tests.support.work import make_schedule, make_workflow, run_now

ENDED = ["completed", "failed", "cancelled", "timed_out"]


class Bench:
    """A tenant with a schedule whose runs nobody has to approve."""

    def __init__(self, db: Database, owner: Tenant, **policies: str) -> None:
        self.db, self.owner = db, owner
        self.workflow = make_workflow(db, owner)
        self.schedule = make_schedule(
            db, self.workflow, retry_policy='{"maxRetries": 0}', **policies
        )

    def start(self, inputs: str | None = None) -> uuid.UUID:
        return run_now(self.db, self.owner, self.schedule, inputs)

    def row(self, run: uuid.UUID) -> Any:
        return self.db.row("select * from lenses.workflow_runs where id = %s", [run])

    def ended(self, run: uuid.UUID, timeout: float = 20.0) -> Any:
        wait_until(lambda: self.row(run).status in ENDED, timeout)
        return self.row(run)

    def failure(self, run: uuid.UUID) -> Any:
        return self.db.value(
            "select payload from lenses.workflow_run_events "
            "where run_id = %s and event_type = 'run.failed' order by seq desc limit 1",
            [run],
        )


@pytest.fixture
def bench(db: Database, tenant: Callable[..., Tenant]) -> Bench:
    return Bench(db, tenant())


def work(bench: Bench, *command: str, options: tuple[str, ...] = ()) -> Any:
    return running(bench.db.dsn, "runs", "work", *options, "--", *command)


def test_the_run_goes_in_and_its_result_comes_out(bench: Bench) -> None:
    run = bench.start('{"day": 7}')
    script = 'python3 -c "import json,os,sys; r=json.load(sys.stdin); print(json.dumps(dict('
    script += "id=os.environ['LF_RUN_ID'], day=r['context_inputs']['day'], "
    script += "definition=r['definition'], status=r['status'], spent_credits=1.5)))\""
    with work(bench, "sh", "-c", script, options=("--once",)) as process:
        assert process.ends() == 0
        assert "1 completed, 0 failed" in process.output
    row = bench.ended(run)
    assert row.status == "completed"
    assert row.metadata["result"] == {
        "id": str(run),
        "day": 7,
        "definition": {"nodes": [], "edges": []},
        "status": "running",
        "spent_credits": 1.5,
    }
    assert row.spent_credits == 1.5
    last = bench.db.row("select last_result, last_completed_at from lenses.workflow_schedules")
    assert last.last_result == row.metadata["result"]


@pytest.mark.parametrize(
    ("script", "cause", "said"),
    [
        ("echo before >&2; echo out of paper >&2; exit 3", "provider_error", "exit code 3"),
        ("echo out of paper >&2; exit 3", "provider_error", "out of paper"),
        ("kill -9 $$", "provider_error", "exit code 137"),
        ('printf \'{"a": "\\\\u0000"}\'', "contract_violated", "result not storable"),
        ("printf '\"a\\000b\"'", "contract_violated", "result not storable"),
        ("printf '\"\\377\"'", "contract_violated", "result not storable"),
        ("echo done", "contract_violated", "result is no JSON"),
        ("echo NaN", "contract_violated", "result is no JSON"),
        ("head -c 200000 /dev/zero | tr '\\0' '['", "contract_violated", "result not storable"),
        ("head -c 17000000 /dev/zero | tr '\\0' '1'", "contract_violated", "longer than"),
    ],
)
def test_what_is_no_result_fails_that_run_and_no_other(
    bench: Bench, script: str, cause: str, said: str
) -> None:
    first = bench.start()
    with work(bench, "sh", "-c", script) as process:
        assert bench.ended(first).status == "failed"
        payload = bench.failure(first)
        assert payload["cause"] == cause
        assert said in payload["error"]
        second = bench.start()
        bench.ended(second)
        assert process.stop() == 0
        assert "Traceback" not in process.output


def test_a_missing_command_is_refused_before_it_gets_a_run(bench: Bench) -> None:
    run = bench.start()
    with work(bench, "/no/such/command", options=("--once",)) as process:
        assert process.ends() == 1
    status = bench.db.value("select status from lenses.workflow_runs where id = %s", [run])
    assert status == "pending"


def test_a_command_that_cannot_start_fails_its_runs(bench: Bench, tmp_path: Path) -> None:
    command = tmp_path / "command"
    command.write_text("#!/no/such/interpreter\n")
    command.chmod(0o755)
    run = bench.start()
    with work(bench, str(command), options=("--once",)) as process:
        assert process.ends() == 1
    assert bench.ended(run).status == "failed"
    assert str(command) in bench.failure(run)["error"]


def test_no_output_is_no_result(bench: Bench) -> None:
    run = bench.start()
    with work(bench, "true", options=("--once",)) as process:
        assert process.ends() == 0
    assert bench.ended(run).status == "completed"


def test_timeout_of_the_policy(db: Database, tenant: Callable[..., Tenant]) -> None:
    bench = Bench(db, tenant())
    db.execute(
        "update lenses.workflow_schedules set retry_policy = "
        '\'{"maxRetries": 0, "timeoutMs": 300}\''
    )
    run = bench.start()
    with work(bench, "sleep", "60", options=("--once",)) as process:
        assert process.ends() == 1
    assert bench.ended(run).status in ("failed", "timed_out")
    assert bench.failure(run)["cause"] == "timeout" or bench.row(run).status == "timed_out"


def test_a_run_that_spends_more_than_its_limit_fails(bench: Bench) -> None:
    agent = bench.db.value(
        "insert into agents.ai_lensers (lenser_id, name) values (%s, 'a') returning id",
        [bench.owner.id],
    )
    bench.db.execute(
        "insert into agents.policies (ai_lenser_id, lenser_id, spending_limit_credits) "
        "values (%s, %s, 2)",
        [agent, bench.owner.id],
    )
    bench.db.execute("update lenses.workflow_schedules set assignee_id = %s", [agent])
    run = bench.start()
    with work(bench, "echo", '{"spent_credits": 2.5}', options=("--once",)) as process:
        assert process.ends() == 1
    assert bench.ended(run).status == "failed"
    assert "2.5" in bench.failure(run)["error"]


def test_it_is_woken_and_works_side_by_side(bench: Bench, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = f"touch {tmp_path}/$LF_RUN_ID; while [ ! -e {gate} ]; do sleep 0.05; done; echo 1"
    options = ("--concurrency", "3", "--poll", "10m")
    with work(bench, "sh", "-c", script, options=options) as process:
        process.says("waiting for runs")
        runs = [bench.start() for _ in range(4)]
        with_started = "select count(*) from lenses.workflow_runs where status = 'running'"
        bench.db.execute("notify lf_workflow_runs")
        wait_until(lambda: len(list(tmp_path.iterdir())) == 3)
        assert bench.db.value(with_started) == 3
        gate.touch()
        for run in runs:
            assert bench.ended(run).metadata["result"] == 1
        assert process.stop() == 0


def test_sigterm_lets_it_finish(bench: Bench, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = f"touch {tmp_path}/up; while [ ! -e {gate} ]; do sleep 0.05; done; echo 1"
    run = bench.start()
    with work(bench, "sh", "-c", script) as process:
        wait_until((tmp_path / "up").exists)
        process.signal(signal.SIGTERM)
        process.says("under way")
        waiting = bench.start()
        gate.touch()
        assert process.ends() == 0
    assert bench.row(run).status == "completed"
    assert bench.row(waiting).status == "pending"


def test_a_second_sigterm_ends_the_commands(bench: Bench, tmp_path: Path) -> None:
    run = bench.start()
    with work(bench, "sh", "-c", f"touch {tmp_path}/up; sleep 60") as process:
        wait_until((tmp_path / "up").exists)
        process.signal(signal.SIGTERM)
        process.says("under way")
        process.signal(signal.SIGTERM)
        assert process.ends() == 0
    assert bench.ended(run).status == "failed"


def test_a_cancelled_run_loses_its_command(bench: Bench, tmp_path: Path) -> None:
    run = bench.start()
    script = f"touch {tmp_path}/up; trap 'touch {tmp_path}/ended; exit 1' TERM; sleep 60 & wait"
    with work(bench, "sh", "-c", script, options=("--lease", "1s")) as process:
        wait_until((tmp_path / "up").exists)
        with as_user(bench.db, bench.owner):
            assert bench.db.value("select public.fn_cancel_workflow_run(%s)", [run])
        wait_until((tmp_path / "ended").exists)
        process.says("lease is lost")
        assert process.stop() == 0
    assert bench.row(run).status == "cancelled"


def test_what_comes_after_the_lease_does_not_count(bench: Bench, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    script = f"touch {tmp_path}/up; while [ ! -e {gate} ]; do sleep 0.05; done; echo 1"
    run = bench.start()
    with work(bench, "sh", "-c", script, options=("--lease", "1s")) as process:
        wait_until((tmp_path / "up").exists)
        process.signal(signal.SIGSTOP)
        expired = "select lease_expires_at < clock_timestamp() from lenses.workflow_runs"
        wait_until(lambda: bench.db.value(expired))
        bench.db.execute("select lenses.fn_reap_workflow_runs()")
        assert bench.row(run).status == "timed_out"
        gate.touch()
        process.signal(signal.SIGCONT)
        wait_until(lambda: "not ours" in process.output or "lease is lost" in process.output)
        assert process.stop() == 0
    assert bench.row(run).status == "timed_out"
    assert "result" not in bench.row(run).metadata or bench.row(run).metadata["result"] != 1


def test_no_lock_and_no_transaction_is_left_open(bench: Bench) -> None:
    runs = [bench.start() for _ in range(30)]
    with work(bench, "true", options=("--concurrency", "8")) as process:
        for run in runs:
            bench.ended(run)
        ours = "select pid from pg_stat_activity where application_name = 'lf-sql runs work'"
        # Looking for work takes locks too, for a moment.
        wait_until(
            lambda: bench.db.value(f"select count(*) from pg_locks where pid in ({ours})") == 0
        )
        assert bench.db.value(f"select count(*) from ({ours}) as o") <= 2
        assert process.stop() == 0
