"""A real pg_cron takes jobs; imported, each fires when a model of pg_cron's rules says, or is refused, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import psycopg
import pytest
import yaml

from tests.support.command import Command
from tests.support.database import Database, connect
from tests.support.state import State
from tests.surface.conftest import File

pytestmark = [pytest.mark.pg_cron, pytest.mark.usefixtures("owner")]

START = datetime(2026, 2, 26, 23, 58, tzinfo=UTC)
LOW, HIGH = (0, 0, 1, 1, 0), (59, 23, 31, 12, 7)
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
NAMES = {3: {name: n for n, name in enumerate(MONTHS, 1)}, 4: {name: n for n, name in enumerate(DAYS)}}  # fmt: skip
NICKNAMES = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}  # fmt: skip
TAKEN = [
    *NICKNAMES,
    "* * * * *", "0 3 * * *", "*/5 * * * *", "59 23 31 12 *", "0 12 29 2 *", "00 07 * * *", "  0   4 * *  1  ", "0\t4\t* * *",
    "0 9 * * MON-FRI", "0 0 * * mon,WED,fRi", "0 9 * jan,Jul *", "0 0 1 1,4,7,10 *", "0 0 * * 7", "0 0 * * 5-7", "0 0 * * 0-7", "0 0 * * 7-7",
    "0 0 * * 1-7/2", "0 0 * * 6,7", "0 0 * * sun-mon", "0 0 * * 1,2,3-5/2", "0 0 13 * 5", "0 0 1,15 * SUN", "0 0 */2 * 1", "0 0 1 * */2",
    "0 0 *,1 * 1", "0 0 1,* * 1", "*,5 * * * *", "0,5,*/20 * * * *", "1-5,10-20/3 * * * *", "5-5 * * * *", "5-5/3 * * * *", "*/59 * * * *",
    "*/60 * * * *", "*/90 * * * *", "0-59/90 * * * *", "0 */24 * * *", "*/7 */5 */3 */5 */4", "0 0 * */13 *",
    # what pg_cron passes over
    "0 0 * * * *", "0 1~5 * * *", "1.5 * * * *", "*5 * * * *", "0 0 * * 1#2", "0 1.5,7 * * *",
]  # fmt: skip
REFUSED = {
    "@reboot": "@reboot is when the machine starts",
    "0 0 30 2 *": "the date never comes",
    "0 0 */31 * *": "is 1 alone; write 1",
    "0 0 * * fri-mon": "which pg_cron takes no value from; write 5-6,0-1",
    "0 0 * * sat-sun": "which pg_cron takes no value from; write 6,0",
    "10-5 * * * *": "which pg_cron takes no value from",
}
NONE = [
    "5/15 * * * *", "60 * * * *", "0 24 * * *", "0 0 0 * *", "0 0 32 * *", "0 0 * 13 *", "0 0 * * 8", "*/0 * * * *", "0 0 * *",
    "0 0 L * *", "0 0 ? * *", "0 0 1W * *", "0 0 * * 5L", "0 0 * * sunday", "5, * * * *", ",5 * * * *", "5- * * * *", "*/ * * * *", "@every 5m", "@DAILY",
]  # fmt: skip


@dataclass(frozen=True)
class Rules:
    """What pg_cron makes of an expression: values by field, and whether both day fields must match."""

    values: tuple[frozenset[int], ...]
    needs_both: bool

    @classmethod
    def of(cls, text: str) -> Rules:
        fields = NICKNAMES.get(text, text).split()[:5]
        values = [cls._field(field, n) for n, field in enumerate(fields)]
        values[4] = frozenset(day % 7 for day in values[4])
        return cls(tuple(values), fields[2].startswith("*") or fields[4].startswith("*"))

    @staticmethod
    def _field(text: str, n: int) -> frozenset[int]:
        """Reads on as long as it understands; a step beyond the end leaves the first value."""
        found: set[int] = set()
        while read := re.match(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?", text):
            ends = [NAMES.get(n, {}).get(end.lower(), end) for end in read.groups()[:2] if end]
            first, last = (LOW[n], HIGH[n]) if ends[0] == "*" else (int(ends[0]), int(ends[-1]))
            found.update(range(first, last + 1, int(read[3] or 1)))
            text = text[read.end() :]
            if not text.startswith(","):
                break
            text = text[1:]
        return frozenset(found)

    def is_day(self, day: date) -> bool:
        _, _, days, months, weekdays = self.values
        both = (day.day in days, day.isoweekday() % 7 in weekdays)
        return day.month in months and (all(both) if self.needs_both else any(both))

    def slots(self) -> Iterator[datetime]:
        """Its instants after START, in UTC."""
        day = START.date()
        while True:
            if self.is_day(day):
                for hour in sorted(self.values[1]):
                    for minute in sorted(self.values[0]):
                        slot = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
                        if slot > START:
                            yield slot
            day += timedelta(days=1)


@pytest.fixture
def cron(state: State) -> Iterator[Database]:
    with connect(state.server.dsn("postgres")) as conn:
        conn.execute("create extension pg_cron")
        yield conn
        conn.execute("drop extension pg_cron")


def test_imported_they_fire_when_pg_cron_fires(
    lf: Command, file: File, db: Database, cron: Database
) -> None:
    for text in NONE:
        with pytest.raises(psycopg.Error, match="invalid schedule"):
            cron.execute("select cron.schedule(%s, %s, 'select 1')", [text, text])
    for text in [*TAKEN, *REFUSED]:
        cron.execute("select cron.schedule(%s, %s, 'select 1')", [text, text])
    said = lf("import", "pg-cron", "--dsn", cron.dsn, "--json", code=1).json
    why = {item["what"]: item["reason"] for item in said["refused"]}
    assert len(why) == len(REFUSED)
    for text, reason in REFUSED.items():
        (told,) = (why[where] for where in why if f"({text})" in where)
        assert reason in told
    out = lf("import", "pg-cron", "--dsn", cron.dsn, "--allow-partial").out
    titles = list(yaml.safe_load(out)["workflows"])
    lf("apply", file(out))
    found = db.rows(
        "select s.name, array(select n from lenses.fn_cron_next(s.cron_expr, s.timezone, %s, 100) as n) "
        "as slots from lenses.workflow_schedules as s",
        [START],
    )
    slots = {row.name: row.slots for row in found}
    assert len(slots) == len(TAKEN)
    for title, text in zip(titles, TAKEN, strict=True):
        assert slots[title] == list(islice(Rules.of(text).slots(), 100)), text
