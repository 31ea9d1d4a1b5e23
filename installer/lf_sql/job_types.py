"""What is known and wanted of the pg_cron jobs."""

from __future__ import annotations

from dataclasses import dataclass, field

from lf_sql.compare import Finding
from lf_sql.cron_troubles import Trouble


@dataclass
class Driver:
    """What pg_cron does for this database."""

    troubles: list[Trouble] = field(default_factory=list)  # the server's, not the installation's
    findings: list[Finding] = field(default_factory=list)  # jobs that are not as they should be
    registered: list[str] = field(default_factory=list)
    is_usable: bool = False  # jobs can be registered from here


@dataclass(frozen=True)
class Wanted:
    """One good row of cron.job."""

    plain_name: str
    name: str
    schedule: str
    command: str
    database: str
