"""Runs that were posted, for the tests of deliveries."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.delivery.conftest import Post

RETRY = {"maxRetries": 1}
LEASE = timedelta(minutes=5)


def posted(post: Post, **columns: Any) -> UUID:
    """A run whose request the sender has."""
    run = post.run(policies=post.policies(retry=RETRY), **columns)
    post.beat()
    assert post.row(run).status == "running"
    return run
