"""lf-sql gateway: create, look at, steer."""

from __future__ import annotations

import pytest

from tests.gateways.conftest import NOON
from tests.support.command import Command, commander
from tests.support.database import Database, Tenant, make_tenant


@pytest.fixture
def owner(db: Database) -> Tenant:
    return make_tenant(db, "ann")


@pytest.fixture
def lf(
    db: Database,
    owner: Tenant,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    return commander(capsys, monkeypatch, db.dsn)


def test_a_gateway_from_its_making_to_its_end(
    lf: Command, db: Database, owner: Tenant, committed: None
) -> None:
    gateway_id = lf("gateway", "create", "eu-west", "--endpoint", "https://gw.example").first
    added = lf(
        *("gateway", "cron", "add", "eu-west", "health_probe", "*/5 * * * *"),
        *("--tz", "Europe/Istanbul", "--payload", '{"deep": true}'),
    )
    stored = db.row("select * from agents.gateway_crons")
    assert (str(stored.id), str(stored.gateway_id)) == (added.first, gateway_id)
    assert (stored.lenser_id, stored.timezone) == (owner.id, "Europe/Istanbul")
    assert stored.payload == {"deep": True}

    (listed,) = lf("gateway", "list").rows
    assert (listed["name"], listed["crons"], listed["active"]) == ("eu-west", "1", "1")
    lf("gateway", "cron", "update", "health_probe", "--off", "--cron", "0 3 * * *")
    (cron,) = lf("gateway", "cron", "list", gateway_id[:8]).rows
    assert (cron["cron_expr"], cron["is_active"]) == ("0 3 * * *", "no")

    run_id = lf("gateway", "cron", "run", added.first[:8]).first
    (run,) = lf("gateway", "runs", "eu-west", "--json").json
    assert (run["id"], run["status"], run["scheduled_for"]) == (run_id, "pending", None)

    lf("gateway", "cron", "remove", "health_probe")
    assert lf("gateway", "cron", "list", "eu-west", "--json").json == []
    lf("gateway", "delete", "eu-west", "--force")
    assert lf("gateway", "list", "--json").json == []


def test_a_mistyped_cron_and_an_update_of_nothing(
    lf: Command, owner: Tenant, committed: None
) -> None:
    lf("gateway", "create", "eu-west")
    lf("gateway", "cron", "add", "eu-west", "health_probe", "*/5 * * * *")
    assert "did you mean 'health_probe'?" in lf("gateway", "cron", "run", "helth_prob", code=1).err
    assert "say what to change" in lf("gateway", "cron", "update", "health_probe", code=2).err


def test_refusals_are_the_databases_own_words(lf: Command, committed: None) -> None:
    lf("gateway", "create", "eu-west")
    refused = lf("gateway", "cron", "add", "eu-west", "probe", "61 * * * *", code=2)
    assert '"61 * * * *"' in refused.err
    assert "hint: " in refused.err
    assert "there is no gateway 'nowhere'" in lf("gateway", "cron", "list", "nowhere", code=1).err
    assert lf("gateway", "cron", "add", "eu-west", "x", "* * * * *", "--payload", "{", code=2).err


def test_another_tenants_gateway_is_out_of_reach(
    lf: Command, db: Database, owner: Tenant, committed: None
) -> None:
    lf("gateway", "create", "eu-west", "--as", owner.user_id)
    bob = make_tenant(db, "bob")
    assert lf("gateway", "list", "--as", bob.user_id, "--json").json == []
    lf("gateway", "delete", "eu-west", "--force", "--as", bob.user_id, code=1)
    assert db.value("select count(*) from agents.gateways") == 1


def test_what_the_tick_made_is_shown(lf: Command, db: Database, committed: None) -> None:
    lf("gateway", "create", "eu-west")
    lf("gateway", "cron", "add", "eu-west", "probe", "*/5 * * * *")
    db.execute("update agents.gateway_crons set next_run_at = %s", [NOON])
    db.execute("select lenses.fn_dispatch_scheduled_workflows(%s)", [NOON])
    (run,) = lf("gateway", "runs", "eu-west").rows
    assert (run["operation"], run["scheduled_for"]) == ("probe", "2030-01-07 12:00:00+00:00")
