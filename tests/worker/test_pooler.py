"""Behind PgBouncer: transaction pooling is refused, session pooling works."""

from __future__ import annotations

from pathlib import Path

import pytest

from lf_sql import db as product_db
from lf_sql.pooler import is_transaction_pooled
from tests.support.bouncer import pgbouncer
from tests.support.database import Database
from tests.support.processes import running
from tests.support.server import TestServer


@pytest.mark.parametrize(("size", "round_robin"), [(1, 0), (5, 0), (5, 1)])
def test_transaction_pooling_is_refused(
    db: Database, server: TestServer, tmp_path: Path, size: int, round_robin: int
) -> None:
    with pgbouncer(server, tmp_path, "transaction", size, round_robin) as port:
        dsn = f"host=127.0.0.1 port={port} user=postgres dbname={db.dbname}"
        with running(dsn, "worker") as worker:
            assert worker.ends() == 1
            assert "transaction pooler" in worker.output
            assert "port 5432" in worker.output
            assert "Traceback" not in worker.output


def test_session_pooling_works(db: Database, server: TestServer, tmp_path: Path) -> None:
    with pgbouncer(server, tmp_path, "session") as port:
        dsn = f"host=127.0.0.1 port={port} user=postgres dbname={db.dbname}"
        with running(dsn, "worker") as worker:
            worker.says("leading")
            assert worker.stop() == 0


def test_a_direct_connection_is_no_pooler(shared_db: Database) -> None:
    assert not is_transaction_pooled(lambda: product_db.connect(shared_db.dsn))
