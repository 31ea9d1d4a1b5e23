"""What is refused: with which words and way out, whatever the input, and how soon."""

from __future__ import annotations

import random
import string
import time

import pytest

from tests.cron.vectors import refusal
from tests.support.database import Database

PARSE = "select lenses.fn_cron_parse(%s)"

HINTS = [
    ("* * * * * *", "Seconds are not supported; remove the first field: * * * * *"),
    ("0 30 9 ? * MON-FRI", "remove the first field: 30 9 * * MON-FRI"),
    ("0 0 1 1 * 2026", "Years are not supported; remove the last field: 0 0 1 1 *"),
    ("0 0 12 1 1 * 2026", "remove the first and the last field: 0 12 1 1 *"),
    ("@yearly", "write 0 0 1 1 * in place of @yearly"),
    ("@annually", "write 0 0 1 1 * in place of @annually"),
    ("@monthly", "write 0 0 1 * * in place of @monthly"),
    ("@weekly", "write 0 0 * * 0 in place of @weekly"),
    ("@daily", "write 0 0 * * * in place of @daily"),
    ("@midnight", "write 0 0 * * * in place of @midnight"),
    ("@HOURLY", "write 0 * * * * in place of @hourly"),
    ("@reboot", "choose a time"),
    ("@every 5m", "interval schedule"),
    ("* * ? * *", "Write * where other schedulers take ?"),
    ("0 0 $ * *", "Write L for the last day of the month"),
    ("0 0 L/2 * *", "never in a range or with a step"),
    ("0 0 1-L * *", "never in a range or with a step"),
    ("0 0 L-31 * *", "The n of L-n runs from 1 to 30"),
    ("0 0 32W * *", "Days of the month run from 1 to 31"),
    ("0 0 * * L", "Name the weekday: FRIL or 5L"),
    ("0 0 * * FRI-L", "written dL, such as FRIL or 5L"),
    ("0 0 * * 1-5#2", "written d#k, such as MON#2"),
    ("0 0 * * MON#6", "The k of d#k runs from 1 to 5"),
    ("0 0 * * 5W", "belongs in the third field, such as 15W"),
    ("0 0 5#2 * *", "belongs in the fifth field"),
    ("L * * * *", "belong in the third field"),
    ("0 0 */31 * MON#2", "the k-th weekday lies between day 7k-6 and day 7k"),
    ("0 0 30W 2 *", "Choose a day that one of the months has"),
    ("14 30 * * *", "The minute comes first, then the hour: write 30 14 * * *."),
    ("4 2-23/24 * * *", "leaves the first value alone: write 2."),
    ("5/60 * * * *", "leaves the first value alone: write 5."),
    ("*/5 * * * * /usr/bin/php x.php", "without a command: */5 * * * *"),
    ("17 * * * * root cd / && run-parts /etc/cron.hourly", "without a command: 17 * * * *"),
    ("0 5 * * 1 tar -zcf /var/b.tgz /home/", "without a command: 0 5 * * 1"),
    ("-*/15 * * * * root /usr/bin/true", "without the leading - and without a command"),
    (
        "0 9 * * 1-5 # on weekdays",
        "Comments are not supported; write the five fields alone: 0 9 * * 1-5",
    ),
    ("@daily /usr/bin/backup", "write 0 0 * * * alone in place of @daily"),
    ("MAILTO=root", "A setting of a crontab is not a schedule"),
    ("PATH = /usr/bin", "A setting of a crontab is not a schedule"),
    (
        "30 * * * * sunday",
        "first field: * * * * sun. If that is the minute, remove a * instead: 30 * * * sun",
    ),
    ("30 9 * * * sunday", "If that is the minute, remove a * instead: 30 9 * * sun"),
    (
        "0 * * * * *",
        "remove the first field: * * * * *. If that is the minute, remove a * instead: 0 * * * *",
    ),
    ("0 0 9 * * 1", "Seconds are not supported; remove the first field: 0 9 * * 1"),
    ("61 9 * * * 1", "Write five fields, without the first of these: 9 * * * 1"),
    ("MON 9 * * * *", "Write five fields, without the first of these: 9 * * * *"),
    ("MON 99 * * * *", "Write five fields: minute, hour, day of month, month, day of week."),
    ("H * * * *", "choose a value"),
    ("H/15 * * * *", "choose a value"),
    ("1~5 * * * *", "choose a value"),
    ("0 9 * * MONDAY", "write MON."),
    ("0 9 * * monday-Friday", "write MON-FRI."),
    ("0 9 * SEPTEMBER *", "write SEP."),
    ("MON 9 * * *", "Weekday names belong in the fifth field"),
    ("0 9 * * JAN", "Month names belong in the fourth field"),
    ("TZ=Europe/Paris 0 9 * * *", "give it as the schedule's timezone"),
    ("CRON_TZ=UTC 0 9 * *", "give it as the schedule's timezone"),
    ("0 0 * * FRI-MON", "write FRI,SAT,SUN,MON."),
    ("0 0 * * 5-1", "write 5,6,0,1."),
    ("0 0 * * 6-0", "write 6,0."),
    ("0 22-5 * * *", "write 22-23,0-5."),
    ("59-0 * * * *", "write 59,0."),
    ("0 0 * NOV-FEB *", "write NOV-DEC,JAN-FEB."),
    ("0 0 * DEC-JAN *", "write DEC,JAN."),
    ("0 22-5/3 * * *", "write 22,1,4."),
    ("*/90 * * * *", "For every 90 minutes use an interval schedule with interval_ms 5400000"),
    ("*/120 * * * *", "write 0 in the minute field and */2 in the hour field"),
    ("0 */36 * * *", "For every 36 hours use an interval schedule with interval_ms 129600000"),
    ("*/0 * * * *", "A step is at least 1"),
    ("*5 * * * *", "Write */5 for every 5, or 5 alone"),
    ("5* * * * *", "Write */5 for every 5, or 5 alone"),
    ("0 0 30 2 *", "Choose a day that one of the months has"),
    ("0 0 31 4,6,9,11 *", "Choose a day that one of the months has"),
    ("0 0 30,31 2 */2", "Choose a day that one of the months has"),
    ("1,,2 * * * *", "Remove the comma"),
    ("0 0 1–5 * *", 'replace the character "–" (U+2013)'),
    ("0\u00a09 * * *", "Only plain ASCII blanks and tabs separate fields"),
    ("0\n9 * * *", "no line breaks"),
    ("0 9 * * 1 - 5", "Leave no blanks inside a field: write 0 9 * * 1-5"),
    ("every 5 minutes", "interval schedule"),
]


@pytest.mark.parametrize(("expr", "hint"), HINTS, ids=[ascii(expr) for expr, _ in HINTS])
def test_way_out(shared_db: Database, expr: str, hint: str) -> None:
    error = refusal(shared_db, PARSE, (expr,))
    assert error is not None
    assert error.sqlstate == "22023"
    assert hint in str(error.diag.message_hint)
    assert expr in str(error.diag.message_primary)


def test_every_suggested_split_is_valid(shared_db: Database) -> None:
    limits = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)]
    for field, (low, high) in enumerate(limits):
        for first, last in [(high, low), (high, low + 1), (high - 1, low), (high - 1, low + 2)]:
            for step in ("", "/2"):
                parts = ["0", "0", "*", "*", "*"]
                parts[field] = f"{first}-{last}{step}"
                error = refusal(shared_db, PARSE, (" ".join(parts),))
                assert error is not None
                split = str(error.diag.message_hint).removesuffix(".").rsplit(" ", 1)[1]
                parts[field] = split
                assert shared_db.value("select lenses.fn_cron_is_valid(%s)", (" ".join(parts),)), (
                    split
                )


def test_null_is_refused(shared_db: Database) -> None:
    error = refusal(shared_db, "select lenses.fn_cron_parse(null)", ())
    assert error is not None
    assert error.sqlstate == "22023"
    assert shared_db.value("select lenses.fn_cron_is_valid(null)") is False


def test_message_does_not_echo_a_megabyte(shared_db: Database) -> None:
    for text in ("9" * 1_000_000, "*/5," * 250_000, "é" * 500_000, " " * 1_000_000):
        error = refusal(shared_db, PARSE, (text,))
        assert error is not None
        assert error.sqlstate == "22023"
        assert len(str(error)) < 2000
        assert str(len(text)) in str(error.diag.message_primary)


def random_text(source: random.Random) -> str:
    """Garbage of many kinds: near misses, bytes, blanks and digits of all scripts, long lists."""
    kind = source.randrange(6)
    if kind == 0:
        alphabet = "0123456789*/,-? LW#@$HJANMONsun \t"
    elif kind == 1:
        alphabet = string.printable
    elif kind == 2:
        alphabet = "\u00a0\u2003\u3000\u0660\u0966\uff11²¹ſKİı*-/0 "
    elif kind == 3:
        return "".join(chr(source.randrange(1, 0xD7FF)) for _ in range(source.randrange(30)))
    elif kind == 4:
        item = source.choice(["0-59,", "*,", "9,", "5-1,", ",", "MON,", "*/2,", "1-9/3,"])
        return item * source.randrange(200) + "5 * * * *"
    else:
        fields = ["*", "5", "*/7", "1-5", "1,2", "MON", "jan", "60", "0", "31", "2", "*/90", "?"]
        return " ".join(source.choice(fields) for _ in range(source.randrange(4, 7)))
    return "".join(source.choice(alphabet) for _ in range(source.randrange(40)))


def test_ten_thousand_texts_end_soon(shared_db: Database) -> None:
    source = random.Random(20_260_101)
    texts = [random_text(source) for _ in range(10_000)]
    valid = 0
    query = "select lenses.fn_cron_next_after(%s, 'UTC', '2026-01-01 00:00+00')"
    for text in texts:
        for attempt in range(3):
            start = time.perf_counter()
            error = refusal(shared_db, query, (text,))
            seconds = time.perf_counter() - start
            assert error is None or error.sqlstate == "22023", (text, error)
            valid += error is None and attempt == 0
            if seconds < 0.25:
                break
        else:
            pytest.fail(f"three times over a quarter of a second: {text!r}")
    assert valid > 100


def test_long_valid_list_is_quick(shared_db: Database) -> None:
    text = "9," * 490 + "5 * * * *"
    best = min(_seconds(shared_db, text) for _ in range(5))
    assert best < 0.25


def _seconds(conn: Database, text: str) -> float:
    start = time.perf_counter()
    conn.execute(PARSE, (text,))
    return time.perf_counter() - start
