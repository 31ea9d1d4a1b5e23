"""Other crons' five fields in ours: the same instants, or a refusal that says why."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lf_sql.imports.found import Refused

FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 7),
)
MONTHS = dict(zip("jan feb mar apr may jun jul aug sep oct nov dec".split(), range(1, 13)))  # noqa: B905, SIM905
DAYS = dict(zip("sun mon tue wed thu fri sat".split(), range(7)))  # noqa: B905, SIM905
LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
NICKNAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
REBOOT = (
    "@reboot is when the machine starts, which no clock tells; start it with the machine "
    "(a systemd unit), or run it by hand: lf-sql schedule run-now"
)
# of a field, what pg_cron reads; it passes over the rest up to the next blank
_READ = re.compile(
    r"{0}(?:,{0})*".format(r"(?:\*|[0-9A-Za-z]+(?:-[0-9A-Za-z]+)?)(?:/[0-9A-Za-z]+)?")
)
_ITEM = re.compile(r"(\*|\?|[0-9A-Za-z]+(?:-[0-9A-Za-z]+)?)(?:/([0-9]+))?")


@dataclass(frozen=True)
class Dialect:
    """What one cron does that another does not."""

    name: str
    has_question_mark: bool = False
    has_last_day: bool = False  # pg_cron's $
    steps_from_a_value: bool = False  # a/n is a-end/n
    star_steps_restrict: bool = False  # */n in a day field is no star
    both_days: bool = False  # both day fields must match, always
    is_lenient: bool = (
        False  # passes over a rest, and takes no value from a range that runs backwards
    )
    last_weekday: int = 7


VIXIE = Dialect("cron")
PG_CRON = Dialect("pg_cron", has_last_day=True, is_lenient=True)
KUBERNETES = Dialect(
    "Kubernetes",
    has_question_mark=True,
    steps_from_a_value=True,
    star_steps_restrict=True,
    last_weekday=6,
)
PG_TIMETABLE = Dialect("pg_timetable", both_days=True, steps_from_a_value=True)


def translated(fields: list[str], dialect: Dialect) -> tuple[str, list[str]]:
    """Our expression, and what was written otherwise; Refused where there is none."""
    notes: list[str] = []
    if len(fields) > 5 and dialect.is_lenient:
        notes.append(f"{dialect.name} reads five fields and passes over {' '.join(fields[5:])}")
        fields = fields[:5]
    if len(fields) != 5:
        raise Refused(f"{dialect.name} wants five fields, not {len(fields)}")
    texts, sets = [], []
    for number, text in enumerate(fields):
        shown, values = _field(text, number, dialect, notes)
        texts.append(shown)
        sets.append(values)
    texts = _days(texts, fields, sets, dialect, notes)
    if texts[4].startswith("*") and texts[2] != "L":
        days = [LONGEST[month - 1] for month in sets[3]]
        if min(sets[2]) > max(days):
            raise Refused(f"the date never comes: day {min(sets[2])} of month {fields[3]}")
    return " ".join(texts), notes


def _field(text: str, number: int, dialect: Dialect, notes: list[str]) -> tuple[str, set[int]]:
    name, low, high = FIELDS[number]
    if number == 4:
        high = dialect.last_weekday
    if text == "$" and number == 2 and dialect.has_last_day:
        notes.append("$, the last day of the month, is written L")
        return "L", {28, 29, 30, 31}
    read = _READ.match(text) if dialect.is_lenient else None
    if read and read[0] != text and text[read.end()] not in ",-/":
        notes.append(f"{name} {text}: {dialect.name} reads {read[0]} and passes over the rest")
        text = read[0]
    items, values = [], set()
    for item in text.split(","):
        shown, found = _item(item, name, low, high, number, dialect)
        if shown != item.upper() and not (item == "?" and shown == "*"):
            notes.append(f"{name} {item} is written {shown}")
        items.append(shown)
        values |= found
    if dialect.star_steps_restrict and "*" in items:
        items = ["*"]  # beside which nothing counts
    return ",".join(items), values


def _item(
    item: str, name: str, low: int, high: int, number: int, dialect: Dialect
) -> tuple[str, set[int]]:
    match = _ITEM.fullmatch(item)
    if match is None:
        if "~" in item:
            raise Refused(f"{name} {item} is a random value; write the one that it shall be")
        raise Refused(f'{dialect.name} itself does not read {name} "{item}"')
    base, step_text = match[1], match[2]
    step = int(step_text) if step_text else 1
    if step == 0:
        raise Refused(f"{name} {item}: {dialect.name} itself refuses a step of 0")
    if base == "?" and not (dialect.has_question_mark and number in (2, 4)):
        raise Refused(f"{name}: {dialect.name} itself does not read ?")
    top = 6 if number == 4 else high
    if base in "*?":
        first, last, shown = low, top, "*"
    else:
        ends = [_value(part, name, low, high, number, dialect) for part in base.split("-")]
        first, last = ends[0], ends[-1]
        if first > last:
            does = "takes no value from" if dialect.is_lenient else "itself refuses"
            raise Refused(
                f"{name} {item} runs backwards, which {dialect.name} {does}; "
                f"write {_backwards(first, last, low, top)}"
            )
        shown = "-".join(map(str, ends))
        if step_text and len(ends) == 1:
            if not dialect.steps_from_a_value:
                raise Refused(
                    f"crons do not agree about {name} {item}: to some it is {first} alone, to "
                    f"others {first}-{top}/{step}; write which it shall be"
                )
            last = top
            shown = f"{first}-{top}" if first < top else str(first)
    values = set(range(first, last + 1, step))
    if step_text and step > last - first:
        if base in "*?" and number in (2, 4) and not dialect.star_steps_restrict:
            raise Refused(f"{name} {item} is {first} alone; write {first}")
        shown, step = str(first), 1
    if number == 4:
        values = {value % 7 for value in values}
    return (f"{shown}/{step}" if step > 1 else shown), values


def _value(text: str, name: str, low: int, high: int, number: int, dialect: Dialect) -> int:
    names = {3: MONTHS, 4: DAYS}.get(number, {})
    if not text.isdigit():
        found = names.get(text.lower())
        if found is None:
            raise Refused(f'{dialect.name} itself does not read {name} "{text}"')
        return found
    value = int(text) if len(text) < 6 else 99999
    if not low <= value <= high:
        raise Refused(
            f"{name} {text} is out of range ({low}-{high}): {dialect.name} itself refuses it"
        )
    return value


def _days(
    texts: list[str],
    fields: list[str],
    sets: list[set[int]],
    dialect: Dialect,
    notes: list[str],
) -> list[str]:
    """The rule of the two day fields: ours is Vixie's, by what a field begins with."""
    if dialect.both_days:
        if not any(fields[n] == "*" for n in (2, 4)):
            raise Refused(
                f"{dialect.name} wants both day fields to match, five fields of ours either; "
                "name the days in one field, or use a condition"
            )
    elif dialect.star_steps_restrict:
        restricts = [texts[n] != "*" for n in (2, 4)]
        if all(restricts):
            for n in (2, 4):
                if texts[n].startswith("*"):
                    low, high = (1, 31) if n == 2 else (0, 6)
                    texts[n] = texts[n].replace("*", f"{low}-{high}")
                    notes.append(
                        f"{FIELDS[n][0]} {fields[n]} is written {texts[n]}: either matches"
                    )
    return texts


def _backwards(first: int, last: int, low: int, top: int) -> str:
    parts = [(first, top), (low, last)]
    return ",".join(f"{a}-{b}" if a != b else str(a) for a, b in parts if a <= b)
