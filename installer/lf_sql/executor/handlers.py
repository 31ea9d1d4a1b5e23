"""Which handler a run is for, and how many runs each has."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from lf_sql.executor.run import Run

Function = Callable[[Run], Any]
KINDS = ("workflow", "battle")


@dataclass(eq=False)
class Handler:
    """A function, how many runs it may have at once, and those it has."""

    function: Function
    limit: int
    is_async: bool
    keeps_time: bool = False  # a plain one that ends itself after the run's `timeout`
    running: int = 0
    waiting: deque[Any] = field(default_factory=deque)  # the desk's jobs

    @classmethod
    def of(cls, function: Function, limit: int, *, keeps_time: bool = False) -> Handler:
        """ValueError: a limit that lets nothing begin."""
        if not isinstance(limit, int) or limit < 1:
            raise ValueError(f"limit must be a whole number, 1 or more, not {limit}")
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004
        )
        return cls(function, limit, is_async, keeps_time)

    @property
    def room(self) -> int:
        """Runs that it could begin with, or let wait, now."""
        return 2 * self.limit - self.running - len(self.waiting)


class Handlers:
    """By id, else title, else kind of the workflow, else the default."""

    def __init__(self) -> None:
        self._by_id: dict[UUID, Handler] = {}
        self._by_title: dict[str, Handler] = {}
        self._by_kind: dict[str, Handler] = {}
        self.default: Handler | None = None

    def add(
        self,
        handler: Handler,
        title: str | None = None,
        *,
        id: UUID | str | None = None,
        kind: str | None = None,
    ) -> None:
        """ValueError: two for the same, several keys, or a key that no workflow can have."""
        if sum(key is not None for key in (title, id, kind)) > 1:
            raise ValueError("a handler is for a title, an id or a kind, not for several of these")
        if title is not None:
            _add(self._by_title, title, handler)
        elif id is not None:
            _add(self._by_id, id if isinstance(id, UUID) else UUID(id), handler)
        elif kind is not None:
            if kind not in KINDS:
                raise ValueError(f"the kind of a workflow is {' or '.join(KINDS)}, not {kind!r}")
            _add(self._by_kind, kind, handler)
        elif self.default is not None:
            raise ValueError("there is a default handler already")
        else:
            self.default = handler

    def all(self) -> list[Handler]:
        """Each once, whatever it is for."""
        named = [*self._by_id.values(), *self._by_title.values(), *self._by_kind.values()]
        found = named if self.default is None else [*named, self.default]
        return list({id(handler): handler for handler in found}.values())

    def find(self, row: dict[str, Any]) -> Handler | None:
        """Of a row that was claimed."""
        return (
            (self._by_id.get(UUID(row["workflow_id"])) if self._by_id else None)
            or self._by_title.get(row["title"])
            or self._by_kind.get(row["kind"])
            or self.default
        )

    def keys(self) -> tuple[list[str], list[str], list[str]]:
        """The ids, titles and kinds of workflows that there are handlers for."""
        return sorted(str(id) for id in self._by_id), sorted(self._by_title), sorted(self._by_kind)


def _add(handlers: dict[Any, Handler], key: Any, handler: Handler) -> None:
    if key in handlers:
        raise ValueError(f"there is a handler for {str(key)!r} already")
    handlers[key] = handler
