"""The executor's log, whose trouble is nobody else's."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any


class Log(logging.LoggerAdapter[logging.Logger]):
    """The logger `lf_sql.executor`; what a handler or a formatter of it raises goes no further.

    They are the program's own, and each of our threads writes to it: one that died of a full disk
    would leave runs that nobody ends, or leases that nobody extends.
    """

    def log(self, level: int, msg: object, *args: object, **kwargs: Any) -> None:
        """As of a logger; `info`, `warning`, `error` and `exception` come here too."""
        with suppress(BaseException):  # a formatter may ask an exception of a handler for its text
            self.logger.log(level, msg, *args, **{"stacklevel": 2, **kwargs})


log = Log(logging.getLogger("lf_sql.executor"))
