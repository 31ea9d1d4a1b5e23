"""What a backend holds."""

from __future__ import annotations

from tests.support.database import Database


def held(conn: Database) -> float:
    """MB that the backend has held at its most, the server's shared memory apart."""
    text = conn.value("select pg_read_file(format('/proc/%s/status', pg_backend_pid()))")
    kilobytes = {
        name: int(value.split()[0])
        for name, _, value in (line.partition(":") for line in text.splitlines())
        if value.endswith("kB")
    }
    return (kilobytes["VmHWM"] - kilobytes["RssShmem"]) / 1024
