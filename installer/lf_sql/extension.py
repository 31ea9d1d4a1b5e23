"""Write the extension lf_sql into a folder: its control file and its script.

For servers where files may be placed. --from VERSION adds the script that updates from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from lf_sql import bundle as bundles
from lf_sql import cron_extension, export
from lf_sql.apply import part
from lf_sql.bundle import Bundle, Source
from lf_sql.template import filled

NAME = "lf_sql"
FINISH = "fn_finish_restore"


def write(bundle: Bundle, folder: Path, updates_from: tuple[str, ...] = ()) -> list[Path]:
    """The control file, the script, and one more for each older version; what was written."""
    text = "".join(script(bundle))
    names = [f"{NAME}--{bundle.version}.sql"]
    # The ledger tells the script what there is to do: an update is the same text.
    names += [f"{NAME}--{version}--{bundle.version}.sql" for version in updates_from]
    texts = {f"{NAME}.control": control(bundle), **dict.fromkeys(names, text)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in texts.items():
        export.write_whole(folder / name, content)
    return [folder / name for name in texts]


def control(bundle: Bundle) -> str:
    return (
        "comment = 'a scheduler that lives in PostgreSQL'\n"
        f"default_version = '{bundle.version}'\n"
        "relocatable = false\n"
        "superuser = true\n"
        "requires = 'plpgsql'\n"
    )


def script(bundle: Bundle) -> Iterator[str]:
    yield export.banner(bundle, "make extension")
    yield f'\\echo Use "create extension {NAME}" to load this file. \\quit\n\n'
    yield "".join(f"set local {name} = {value};\n" for name, value in export.SETTINGS.items())
    yield (
        "select pg_catalog.set_config('lf_sql.is_restore', "
        "(pg_catalog.current_setting('row_security') = 'off')::text, true);\n"
        "set local row_security = on;\n"
    )
    finish = Source(
        f"extension/{FINISH}.sql", "function", "lf_sql", FINISH,
        filled("extension_finish_restore"),
    )  # fmt: skip
    yield from export.body(bundle, [finish])
    yield part("dump and restore", filled("extension_end", jobs=cron_extension.calls(bundle)))


@click.command(help=__doc__)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--from", "updates_from", multiple=True, metavar="VERSION")
def main(folder: Path, updates_from: tuple[str, ...]) -> None:
    for path in write(bundles.load(), folder, updates_from):
        click.echo(path)


if __name__ == "__main__":
    main()
