"""A crontab, line by line, as Debian's cron and cronie read it."""

from __future__ import annotations

import re
from typing import Any

from lf_sql.imports import cron, zones
from lf_sql.imports.found import NO_TEXT, Job, Left, Refused, title_of

_SETTING = re.compile(
    r"""\s*(?P<q>["']?)(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P=q)\s*=\s*(?P<value>.*?)\s*"""
)
_JOB = re.compile(r"(?:[-0-9*@?~][^ \t]*)[ \t]")
_HEADING = re.compile(r"(?i)m(in(ute)?)?[ \t]+h(our)?[ \t]+d")  # m h dom mon dow command
_UNREAD = "MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING"


def read(text: str, is_system: bool, timezone: str) -> list[Job | Left]:
    """Every job of it, in order; settings hold for the lines below them."""
    return _Reader(is_system, timezone).read(text)


class _Reader:
    def __init__(self, is_system: bool, timezone: str) -> None:
        self.is_system = is_system
        self.timezone = timezone
        self.environ: dict[str, str] = {}
        self.comments: list[str] = []

    def read(self, text: str) -> list[Job | Left]:
        found: list[Job | Left] = []
        is_continued = False
        for number, line in enumerate(text.split("\n"), start=1):
            line = line.removesuffix("\r").lstrip(" \t")
            if not line.strip():
                self.comments.clear()
                is_continued = False
            elif line.startswith("#"):
                self._comment(NO_TEXT.sub("", line))
            else:
                where = f"line {number}: {line}"
                try:
                    item = self._line(line, where, is_continued)
                    found += [item] if item else []
                except Refused as refused:
                    found.append(Left(where, str(refused)))
                self.comments.clear()
                is_continued = line.endswith("\\")
        return found

    def _comment(self, line: str) -> None:
        text = line.lstrip("#").strip()
        is_job = _JOB.match(text) and len(text.split()) > 5
        if not text.strip("-=*# ") or is_job or _HEADING.match(text):
            self.comments.clear()  # a rule, a job that is commented out, or what fields are called
        elif text:
            self.comments.append(text)

    def _line(self, line: str, where: str, is_continued: bool) -> Job | Left | None:
        if NO_TEXT.search(line):
            raise Refused("it has a character that the database takes nowhere")
        setting = _SETTING.fullmatch(line)
        if setting:
            return self._set(setting["name"], setting["value"], where)
        if is_continued:
            raise Refused(
                "it goes on from the line above, but cron knows no continuation: write one line"
            )
        is_quiet = line.startswith("-")
        words = line.removeprefix("-").split(None, 1) or [""]
        schedule: dict[str, Any] = {}
        if words[0].startswith("@"):
            expression = self._nickname(words[0])
            notes: list[str] = []
            rest = words[1] if len(words) > 1 else ""
        else:
            parts = line.removeprefix("-").split(None, 5)
            if len(parts) < 5:
                raise Refused("this is no job: five fields and a command, or NAME=value")
            expression, notes = cron.translated(parts[:5], cron.VIXIE)
            rest = parts[5] if len(parts) > 5 else ""
        if is_quiet:
            notes.append("the minus before it, which keeps it out of syslog, has no meaning here")
        node: dict[str, Any] = {"action": "shell"}
        if self.is_system:
            user, rest = [*rest.split(None, 1), "", ""][:2]
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]*\$?", user):
                raise Refused(f'a system crontab has a user before the command, not "{user}"')
            node["user"] = user
        rest = rest.strip(" \t")
        if not rest:
            raise Refused("there is no command")
        if rest.endswith("\\"):
            raise Refused(
                "the command ends with a backslash, but cron knows no continuation: write one line"
            )
        command, given = _percent(rest)
        if not command.strip():
            raise Refused("there is no command before the %")
        node["command"] = command
        if given is not None:
            node["stdin"] = given
        schedule = {"cron": expression, "timezone": self._zone()}
        if self.comments:
            schedule["description"] = " ".join(self.comments)[:2000]
        self._environment(node)
        return Job(title_of(command), schedule, node, notes, self._doubt(command))

    def _doubt(self, command: str) -> str | None:
        first = command.split()[0]
        if first == "root" and not self.is_system:
            return "its command begins with root; is this a system crontab? then add --system"
        if re.fullmatch(r"[*?/0-9,-]+", first):
            return f"its command begins with {first}, as cron reads it; is that a sixth field?"
        return None

    def _set(self, name: str, value: str, where: str) -> Left | None:
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        self.environ[name] = value
        if name in _UNREAD:
            return Left(
                where,
                "nothing is mailed: output is the run's result, and lf-sql schedule health tells "
                "of failures",
                is_fine=True,
            )
        return None

    def _nickname(self, word: str) -> str:
        if word.lower() == "@reboot":
            raise Refused(cron.REBOOT)
        if word.lower() not in cron.NICKNAMES:
            raise Refused(f'cron itself does not read "{word}"')
        return cron.NICKNAMES[word.lower()]

    def _zone(self) -> str:
        return zones.require(self.environ.get("CRON_TZ") or self.timezone, "CRON_TZ")

    def _environment(self, node: dict[str, Any]) -> None:
        rest = {k: v for k, v in self.environ.items() if k not in (*_UNREAD, "CRON_TZ")}
        shell = rest.pop("SHELL", None)
        if shell:
            node["shell"] = shell
        if rest:
            node["env"] = rest


def _percent(text: str) -> tuple[str, str | None]:
    """The command, and what it gets on standard input: after the first % that has no backslash."""
    parts = re.split(r"(?<!\\)%", text)
    parts = [part.replace("\\%", "%") for part in parts]
    if len(parts) == 1:
        return parts[0], None
    return parts[0].rstrip(), "\n".join(parts[1:]) + "\n"
