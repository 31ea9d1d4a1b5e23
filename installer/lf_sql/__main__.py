"""`lf-sql`, and `python -m lf_sql`. Only what takes no time to load is loaded at once: Ctrl-C while
the rest is loaded ends the command as it does later."""

from __future__ import annotations

import sys
from contextlib import suppress


def main() -> None:
    """Run the command that the arguments name. SystemExit: its exit code; 130 interrupted."""
    try:
        from lf_sql.cli import main as command

        command()
    except KeyboardInterrupt:
        with suppress(OSError, AttributeError):  # full, or closed
            sys.stderr.write("error: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
