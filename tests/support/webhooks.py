"""What the reference libraries of Standard Webhooks, from PyPI and npm, say of a signed request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

NODE_MODULES = Path(sys.prefix) / "node" / "node_modules"
Case = tuple[str, str | bytes, Mapping[str, str]]  # secret, body, headers


def verified(secret: str, body: str | bytes, headers: Mapping[str, str]) -> Any:
    """The body, where both verify it; None where both refuse it."""
    (found,) = verified_all([(secret, body, headers)])
    return found


def verified_all(cases: Sequence[Case]) -> list[Any]:
    """The same of several, in one process of node."""
    python = [_of_python(*case) for case in cases]
    given = [
        {"secret": secret, "body": _text(body), "headers": dict(headers)}
        for secret, body, headers in cases
    ]
    node = shutil.which("node")
    assert node, "Node.js is missing: make test installs it"
    done = subprocess.run(
        [node, str(Path(__file__).with_suffix(".cjs"))],
        input=json.dumps(given),
        env={**os.environ, "NODE_PATH": str(NODE_MODULES)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
    assert all(a.get("refused") in (None, "WebhookVerificationError") for a in answers), answers
    assert [answer.get("verified") for answer in answers] == python
    return python


def _of_python(secret: str, body: str | bytes, headers: Mapping[str, str]) -> Any:
    try:
        return Webhook(secret).verify(body, dict(headers))
    except WebhookVerificationError:
        return None


def _text(body: str | bytes) -> str:
    return body if isinstance(body, str) else body.decode()
