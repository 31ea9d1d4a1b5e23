"""HMAC-SHA256 by RFC 4231, and signatures as the reference library of Standard Webhooks takes them."""

from __future__ import annotations

import base64
import json
import secrets
from datetime import UTC, datetime

import pytest

from tests.delivery.conftest import Post
from tests.delivery.sender import SECRET
from tests.support.database import Database
from tests.support.webhooks import verified, verified_all

# Key, data and HMAC-SHA-256 of RFC 4231, 4.2 to 4.8; the fifth is cut to 128 bits there.
VECTORS = [
    ("0b" * 20, b"Hi There".hex(), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe".hex(), b"what do ya want for nothing?".hex(),
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    ("aa" * 20, "dd" * 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    (bytes(range(1, 26)).hex(), "cd" * 50,
     "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    ("0c" * 20, b"Test With Truncation".hex(), "a3b6167473100ee06e0c796c2955552b"),
    ("aa" * 131, b"Test Using Larger Than Block-Size Key - Hash Key First".hex(),
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    ("aa" * 131,
     b"This is a test using a larger than block-size key and a larger than block-size data. "
     b"The key needs to be hashed before being used by the HMAC algorithm.".hex(),
     "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
]  # fmt: skip


@pytest.mark.parametrize(("key", "data", "mac"), VECTORS)
def test_rfc_4231(key: str, data: str, mac: str, shared_db: Database) -> None:
    ours = shared_db.value(
        "select encode(lenses.fn_hmac_sha256(decode(%s, 'hex'), decode(%s, 'hex')), 'hex')",
        [key, data],
    )
    assert ours[: len(mac)] == mac


def signed(db: Database, secret: str, id: str, body: str) -> dict[str, str]:
    at = int(datetime.now(UTC).timestamp())
    signature = db.value(
        "select lenses.fn_webhook_signature(lenses.fn_webhook_keys(%s), %s, %s, %s)",
        [secret, id, at, body],
    )
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": signature}


def test_the_reference_libraries_take_ours_and_nothing_that_was_changed(
    shared_db: Database,
) -> None:
    body = json.dumps({"text": "grüße, 世界 \u2028"}, ensure_ascii=False)
    good, bad = [], []
    for size in (24, 32, 63, 64):
        secret = "whsec_" + base64.b64encode(secrets.token_bytes(size)).decode()
        headers = signed(shared_db, secret, "msg:1", body)
        good.append((secret, body, headers))
        bad += [
            (secret, body + " ", headers),
            (secret, body, {**headers, "webhook-id": "msg:2"}),
            (secret, body, {**headers, "webhook-timestamp": "1600000000"}),
            ("whsec_" + "QUJD" * 8, body, headers),
        ]
    assert verified_all([*good, *bad]) == [json.loads(body)] * len(good) + [None] * len(bad)


def test_two_keys_sign_while_one_replaces_the_other(shared_db: Database) -> None:
    both = [f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}" for _ in range(2)]
    headers = signed(shared_db, " ".join(both), "a:1", '{"a": 1}')
    assert verified_all([(secret, '{"a": 1}', headers) for secret in both]) == [{"a": 1}] * 2


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_ab", "whsec_" + "A" * 31, "x y", "whsec_" + "é" * 40]
)
def test_what_is_no_secret_is_no_key(secret: str, shared_db: Database) -> None:
    assert shared_db.value("select lenses.fn_webhook_keys(%s)", [secret]) is None


def test_a_posted_run_is_signed(post: Post) -> None:
    post.delivered_to()
    run = post.run(context_inputs={"text": "grüße"})
    post.beat()
    (request,) = post.net.send()
    assert verified(SECRET, request.body, request.headers)["id"] == str(run)
    assert request.headers["webhook-id"] == f"{run}:1"
