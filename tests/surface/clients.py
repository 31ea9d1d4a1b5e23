"""postgrest-py and supabase-js behind one face."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from postgrest import APIError, SyncPostgrestClient

HERE = Path(__file__).parent
NODE_MODULES = Path(sys.prefix) / "node" / "node_modules"


@dataclass(frozen=True)
class Reply:
    status: int | None
    data: Any
    code: str | None = None
    message: str | None = None
    hint: str | None = None


class PythonClient:
    """PyPI postgrest; it does not tell the HTTP status."""

    name = "postgrest-py"

    def __init__(self, url: str) -> None:
        self.url = url

    def call(
        self,
        token: str | None,
        name: str,
        arguments: dict[str, Any],
        *,
        get: bool = False,
        single: bool = False,
    ) -> Reply:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with SyncPostgrestClient(self.url, headers=headers) as client:
            query = client.rpc(name, arguments, get=get)
            try:
                answer = (query.single() if single else query).execute()
            except APIError as error:
                return Reply(None, None, error.code, error.message, error.hint)
        return Reply(None, answer.data)

    def close(self) -> None:
        """Nothing is kept."""


class NodeClient:
    """npm @supabase/supabase-js, one process for all calls."""

    name = "supabase-js"

    def __init__(self, url: str) -> None:
        self.url = url
        node = shutil.which("node")
        assert node, "Node.js is missing: make test installs it"
        assert NODE_MODULES.is_dir(), "supabase-js is missing: make test installs it"
        self._process = subprocess.Popen(
            [node, "--no-warnings", str(HERE / "client.cjs")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "NODE_PATH": str(NODE_MODULES)},
        )

    def call(
        self,
        token: str | None,
        name: str,
        arguments: dict[str, Any],
        *,
        get: bool = False,
        single: bool = False,
    ) -> Reply:
        wanted = {
            "url": self.url,
            "token": token,
            "name": name,
            "args": arguments,
            "options": {"get": get},
            "single": single,
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(wanted) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        error = answer["error"] or {}
        return Reply(
            answer["status"],
            answer["data"],
            error.get("code"),
            error.get("message"),
            error.get("hint"),
        )

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(120)
