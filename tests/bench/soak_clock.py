"""The clock of a server that is played (libfaketime), for the soak."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

SHIM = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


class Clock:
    """The server's clock, which only goes forward."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "clock"
        self.ahead = 0.0
        self._write()

    def set(self, at: datetime) -> None:
        self.ahead = max(self.ahead, (at - datetime.now(UTC)).total_seconds())
        self._write()

    def _write(self) -> None:
        """In one step: the server reads it all the time."""
        new = self.path.with_suffix(".new")
        new.write_text(f"{self.ahead:+.3f}s\n")
        new.replace(self.path)

    @property
    def environment(self) -> dict[str, str]:
        if SHIM is None:
            raise RuntimeError("the soak needs libfaketime: apt-get install faketime")
        return {
            "LD_PRELOAD": str(SHIM),
            "FAKETIME_TIMESTAMP_FILE": str(self.path),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
