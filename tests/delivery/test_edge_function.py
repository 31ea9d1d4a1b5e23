"""The Edge Function of docker/edge-function, run by node on what the tick has posted."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.delivery.conftest import HERE, Post
from tests.delivery.sender import SECRET, Answer, Request

SOURCE = HERE.parents[1] / "docker" / "edge-function" / "index.ts"


def ask(folder: Path, request: Request, secret: str = SECRET, **changed: str) -> dict[str, Any]:
    """It has no type that is not inferred, so node takes it as it is."""
    module = folder / "index.mjs"
    shutil.copy(SOURCE, module)
    node = shutil.which("node")
    assert node, "Node.js is missing: make test installs it"
    given = {
        "url": module.as_uri(),
        "secret": secret,
        "headers": {**request.headers, **changed},
        "body": request.body.decode(),
    }
    done = subprocess.run(
        [node, str(HERE / "edge.mjs")], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture
def posted(post: Post) -> Request:
    post.delivered_to()
    post.run(context_inputs={"name": "Zoë"})
    post.beat()
    (request,) = post.net.send(is_recorded=False)
    return request


def test_it_verifies_and_completes_the_run(post: Post, posted: Request, tmp_path: Path) -> None:
    other = "whsec_" + "QUJD" * 8
    answer = ask(tmp_path, posted, f"{other} {SECRET}")
    post.net.record(posted.id, Answer(answer["status"], answer["content"], answer["headers"]))
    post.beat()
    assert post.row(posted.json["id"]).metadata["result"] == {
        "status": "completed",
        "said": "hello Zoë",
    }


def test_it_takes_an_event(post: Post, tmp_path: Path) -> None:
    post.delivered_to()
    test = post.db.value("select lenses.fn_test_delivery('default')")
    post.beat()
    (request,) = post.net.send(is_recorded=False)
    post.net.record(request.id, Answer(ask(tmp_path, request)["status"], None))
    post.beat()
    found = post.db.value("select lenses.fn_test_delivery('default', %s)", [test["id"]])
    assert found["status"] == "delivered"


@pytest.mark.parametrize(
    ("secret", "changed"),
    [
        ("whsec_" + "QUJD" * 8, {}),
        ("", {}),
        (SECRET, {"webhook-id": "another:1"}),
        (SECRET, {"webhook-timestamp": "1600000000"}),
        (SECRET, {"webhook-signature": "v1,"}),
    ],
    ids=["another secret", "no secret", "another id", "an old one", "no signature"],
)
def test_it_refuses(secret: str, changed: dict[str, str], posted: Request, tmp_path: Path) -> None:
    assert ask(tmp_path, posted, secret, **changed)["status"] == 401
