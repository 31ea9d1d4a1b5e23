"""Where the secret that signs requests comes from, and where it must never be."""

from __future__ import annotations

from standardwebhooks.webhooks import Webhook

from tests.delivery.conftest import HERE, URL, Post
from tests.delivery.posted import posted
from tests.delivery.sender import SECRET


def test_the_secret_stands_nowhere_but_in_its_table(post: Post) -> None:
    post.delivered_to()
    posted(post)
    queue = post.db.value("select string_agg(q::text, '') from net.http_request_queue as q")
    assert SECRET not in queue
    assert SECRET.removeprefix("whsec_") not in queue
    assert "v1," in queue


def test_without_its_secret_nothing_is_posted(post: Post) -> None:
    post.set(url=URL, secret_name="lost")
    run = post.run()
    assert post.beat() == 0
    assert post.row(run).status == "pending"
    assert 'the secret "lost" is not there' in post.delivery().problem


def test_the_vaults_secret_comes_first(post: Post) -> None:
    post.db.execute((HERE / "vault.sql").read_bytes())
    post.db.execute("grant usage on schema vault to lf_sql_engine")
    post.db.execute("grant select on vault.decrypted_secrets to lf_sql_engine")
    post.delivered_to()
    other = "whsec_" + "QUJD" * 8
    post.db.execute("select vault.create_secret(%s, 'key')", [other])
    posted(post)
    (request,) = post.net.send()
    Webhook(other).verify(request.body, request.headers)


def test_a_vault_that_we_may_not_read_is_passed_over(post: Post) -> None:
    post.db.execute((HERE / "vault.sql").read_bytes())
    post.delivered_to()
    posted(post)
    assert post.db.column("select state from lenses.fn_health_deliveries() where label = 'ok'")
