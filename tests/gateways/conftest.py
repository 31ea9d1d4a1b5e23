"""A tenant with a gateway and crons on it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from tests.support.database import Database, Tenant, as_user
from tests.support.fixtures import undone_db as db

NOON = datetime(2030, 1, 7, 12, 0, tzinfo=UTC)  # a Monday


@dataclass(frozen=True)
class Gateway:
    """A gateway of `owner`; `cron` adds a cron to it."""

    db: Database
    owner: Tenant
    id: uuid.UUID

    def cron(
        self,
        cron_expr: str = "*/5 * * * *",
        *,
        operation: str = "health_probe",
        timezone: str = "UTC",
        next_run_at: datetime | None = NOON,
    ) -> uuid.UUID:
        with as_user(self.db, self.owner):
            cron_id = self.db.value(
                "select id from public.fn_gateway_cron_add(%s, %s, %s, %s)",
                [self.id, operation, cron_expr, timezone],
            )
        if next_run_at is not None:
            self.db.execute(
                "update agents.gateway_crons set next_run_at = %s where id = %s",
                [next_run_at, cron_id],
            )
        return cron_id


@pytest.fixture
def gateway_of(db: Database) -> Callable[[Tenant], Gateway]:
    def make(owner: Tenant) -> Gateway:
        with as_user(db, owner):
            gateway_id = db.value("select id from public.fn_upsert_gateway(p_name => 'eu-west')")
        return Gateway(db, owner, gateway_id)

    return make


@pytest.fixture
def gateway(tenant: Callable[..., Tenant], gateway_of: Callable[[Tenant], Gateway]) -> Gateway:
    return gateway_of(tenant("ann"))
