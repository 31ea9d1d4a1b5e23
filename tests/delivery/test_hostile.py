"""A schema net that is not pg_net's, and what others may have put beside it: none of it is called."""

from __future__ import annotations

import psycopg
import pytest
from standardwebhooks.webhooks import Webhook

from tests.delivery.conftest import HERE, Post
from tests.delivery.sender import SECRET
from tests.support.database import Database

WITNESS = """
create table public.witness (who text);
grant all on public.witness to public;
create role lf_test_hostile;
create schema hostile authorization lf_test_hostile;
grant usage on schema hostile to public;
set role lf_test_hostile;
create function hostile.seize() returns trigger language plpgsql
as $$ begin insert into public.witness values (current_user); return new; end $$;
reset role;
"""
IN_NET = "grant create on schema net to lf_test_hostile;"
PLANTED = {
    "a trigger on the queue": """
      set role lf_test_hostile;
      create trigger seize before insert on net.http_request_queue
      for each row execute function hostile.seize()""",
    "a trigger on the answers": """
      set role lf_test_hostile;
      create trigger seize before insert on net._http_response
      for each row execute function hostile.seize()""",
    "an overload that fits better": IN_NET + """
      set role lf_test_hostile;
      create function net.http_post(
        url text, body jsonb, params jsonb, headers jsonb, timeout_milliseconds bigint
      ) returns bigint language sql
      as $$ insert into public.witness values (current_user) returning 1::bigint $$""",
    "the schema": "alter schema net owner to lf_test_hostile",
    "the function": IN_NET + """
      alter function net.http_post(text, jsonb, jsonb, jsonb, integer) owner to lf_test_hostile""",
    "the table of answers": IN_NET + "alter table net._http_response owner to lf_test_hostile",
    "a view in its place": IN_NET + """
      drop table net._http_response;
      set role lf_test_hostile;
      create view net._http_response as select 1::bigint as id""",
}  # fmt: skip


@pytest.fixture
def hostile(post: Post) -> Post:
    post.db.execute(WITNESS)
    return post


@pytest.mark.parametrize("planted", PLANTED.values(), ids=list(PLANTED))
def test_nothing_of_a_strangers_runs(planted: str, hostile: Post) -> None:
    hostile.delivered_to()
    run = hostile.run()
    hostile.db.execute(planted.encode())
    hostile.db.execute("reset role")
    assert hostile.beat() == 0
    assert hostile.db.column("select who from public.witness") == []
    assert hostile.row(run).status == "pending"
    assert "belongs to lf_test_hostile" in hostile.delivery().problem
    (line,) = hostile.db.rows(
        "select * from lenses.fn_health_deliveries() where check_name = 'delivery default'"
    )
    assert (line.state, line.label) == ("bad", "CANNOT POST")


def test_the_trigger_would_have_run(hostile: Post) -> None:
    """What the check stands against: PUBLIC may create triggers on pg_net's tables."""
    hostile.db.execute(PLANTED["a trigger on the queue"].encode())
    hostile.db.execute("set role lf_sql_engine")
    hostile.db.execute("select net.http_post('https://example.com')")
    hostile.db.execute("reset role")
    assert hostile.db.column("select who from public.witness") == ["lf_sql_engine"]


def test_a_strangers_vault_is_not_asked(hostile: Post) -> None:
    hostile.delivered_to()
    run = hostile.run()
    hostile.db.execute((HERE / "vault.sql").read_bytes())
    hostile.db.execute(
        "grant usage on schema vault to public; grant all on all tables in schema vault to public; "
        "alter schema vault owner to lf_test_hostile; "
        "alter view vault.decrypted_secrets owner to lf_test_hostile"
    )
    hostile.db.execute("select vault.create_secret('whsec_' || repeat('QUJD', 8), 'key')")
    assert hostile.beat() == 1
    assert hostile.row(run).status == "running"
    (request,) = hostile.net.send()
    Webhook(SECRET).verify(request.body, request.headers)


@pytest.mark.usefixtures("committed")
def test_a_trigger_cannot_come_between_the_look_and_the_call(hostile: Post) -> None:
    """Made and not committed yet, it is not seen: so the lock comes first, and is not waited for."""
    hostile.delivered_to()
    hostile.run()
    with hostile.db.another() as stranger:
        stranger.autocommit = False
        stranger.execute(PLANTED["a trigger on the queue"].encode())
        hostile.db.execute("set lock_timeout = '1s'")
        with pytest.raises(psycopg.errors.LockNotAvailable, match="could not obtain lock"):
            hostile.db.execute("select lenses.fn_deliver()")
        stranger.commit()
    assert hostile.db.value("select lenses.fn_deliver()") == 0
    assert hostile.db.column("select who from public.witness") == []
    hostile.db.execute("drop schema hostile cascade; drop role lf_test_hostile")


def test_without_pg_net_it_says_so(post: Post) -> None:
    post.delivered_to()
    run = post.run()
    post.db.execute("drop schema net cascade")
    assert post.beat() == 0
    assert post.row(run).status == "pending"
    assert "pg_net is not installed" in post.delivery().problem


def test_where_public_has_no_rights_it_says_which_are_needed(post: Post) -> None:
    post.delivered_to()
    post.run()
    post.db.execute(
        "revoke all on all tables in schema net from public; revoke all on schema net from public; "
        "revoke all on all sequences in schema net from public"
    )
    assert post.beat() == 0
    advice = grants(post.db)
    assert "to lf_sql_engine" in advice
    post.db.execute(advice.encode())
    assert post.beat() == 1


def grants(db: Database) -> str:
    advice = db.value("select advice from lenses.fn_net_trouble()")
    return str(advice).removeprefix("as a superuser: ")


def test_open_rights_are_told_and_the_advice_works(post: Post) -> None:
    post.delivered_to()
    post.run()
    ask = "select advice from lenses.fn_health_deliveries() where check_name = 'pg_net'"
    advice = post.db.value(ask)
    post.db.execute(advice.removeprefix("as its owner: ").split(" -- ")[0].encode())
    assert post.db.value(ask) is None
    assert post.beat() == 1
