"""Templates, and the answers that every page gives."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from lf_sql import __version__, instants
from lf_sql.durations import spelt

HERE = Path(__file__).parent
LIVE = 5  # seconds between two looks at what is live


def when(value: datetime | str | None, form: str = "datetime", zone: str | None = None) -> Markup:
    """An instant: UTC as it stands here; the page's script turns it to the viewer's zone.

    The form `wall` is the wall clock of `zone`, empty where the viewer's shows the same; `inline`
    stands inside a sentence; `age` is how long ago it was.
    """
    if value is None:
        return Markup('<span class="none">–</span>')
    at = (instants.read(value) if isinstance(value, str) else value).astimezone(UTC)
    there = Markup(' data-zone="{}"').format(zone) if zone else ""
    shown = "" if form == "wall" else at.strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}" data-form="{}"{}>{}</time>').format(
        at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), form, there, shown
    )


def local(text: str, zone: str | None = None) -> Markup:
    """Text of the database, its instants on the viewer's clock and, in small, on that of `zone`."""

    def both(at: datetime) -> str:
        wall = Markup(" <small>{}</small>").format(when(at, "wall", zone)) if zone else ""
        return when(at, "inline") + wall

    return Markup(instants.in_text(str(escape(text)), both))


def clock(value: datetime, zone: str) -> str:
    """An instant on a wall clock, for a picture's tooltip."""
    return value.astimezone(ZoneInfo(zone)).strftime("%a %-d %b %H:%M")


def span(value: float | timedelta | None) -> str:
    """Seconds as `3m 25s`, `4.2s`, `17ms`: the two largest units."""
    if value is None:
        return "–"
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if abs(seconds) < 1:
        return f"{round(1000 * seconds)}ms"
    if abs(seconds) < 10:
        return f"{seconds:.1f}s"
    sign = "-" if seconds < 0 else ""
    return sign + " ".join(spelt(round(abs(seconds)) * 1000).split()[:2])


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str, sort_keys=True)


def zone(value: str | None) -> Markup:
    """A zone's name, which may break after its slashes."""
    return Markup("/<wbr>").join((value or "UTC").replace("_", " ").split("/"))


def words(value: str | None) -> str:
    """A status or reason of the database as words; what is no constant keeps its capitals."""
    text = (value or "").replace("_", " ")
    return text.lower() if text.isupper() else text


def keys(value: Any) -> str:
    """A short summary of a JSON object, to fold the rest away."""
    return ", ".join(map(str, value)) if isinstance(value, dict) else "payload"


def took(attempt: dict[str, Any]) -> str:
    """How long an attempt of fn_get_run lasted; a dash while it does."""
    if not attempt["started_at"] or not attempt["ended_at"]:
        return "–"
    began, ended = (instants.read(attempt[k]) for k in ("started_at", "ended_at"))
    return span(ended - began)


environment = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
environment.filters |= {
    each.__name__: each for each in (when, local, clock, span, pretty, words, zone, keys, took)
}
environment.globals |= {"version": __version__}


def pace(took: float) -> int:
    """Seconds until a page asks again: what was slow to make is asked for less often."""
    return max(LIVE, round(took * 20))


def page(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A template, with what every page knows."""
    state = request.app.state
    took = time.monotonic() - getattr(request.state, "started", time.monotonic())
    text = environment.get_template(template).render(
        csrf=state.gate.csrf, tenant=state.tenant, pace=pace(took), **context
    )
    return HTMLResponse(text, status)


def done(
    message: str,
    *,
    go: str | None = None,
    undo: tuple[str, dict[str, str]] | None = None,
    link: tuple[str, str] | None = None,
) -> Response:
    """A write that went well: a toast and fresh rows, or another page.

    `undo` is the address and the fields that take it back, `link` a text and where it leads.
    """
    if go is not None:
        return Response(status_code=204, headers={"HX-Redirect": go})
    toast: dict[str, Any] = {"message": message}
    if undo is not None:
        toast["undo"] = {"url": undo[0], "values": undo[1]}
    if link is not None:
        toast["link"] = {"text": link[0], "url": link[1]}
    events = {"toast": toast, "refresh": {}}
    return Response(status_code=204, headers={"HX-Trigger": json.dumps(events)})


def refused(message: str, hint: str | None = None, field: str = "") -> Response:
    """A write that the database refused: its own words, beside the field if there is one."""
    event = {"message": message, "hint": hint or "", "field": field}
    headers = {"HX-Reswap": "none", "HX-Trigger": json.dumps({"refused": event})}
    return Response(status_code=422, headers=headers)


def is_partial(request: Request) -> bool:
    """Asked by htmx for a part of a page."""
    return request.headers.get("hx-request") == "true"
