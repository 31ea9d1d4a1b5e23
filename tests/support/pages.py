"""The pages of the documentation, and their blocks by the heading above them.

```sh```, ```sql``` and ```python file=NAME``` blocks are run. A word behind the language says how:
`background` starts what must live and then end cleanly, `exits-1` brings bad news, `either` may,
`elsewhere` needs what no test's database has: a machine, a service, a day. Such a block is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "README.md"
MANUAL = ROOT / "installer/README.md"
SQL = ROOT / "sql/README.md"
DOCKER = ROOT / "docker/README.md"
PAGES = (FIRST, MANUAL, SQL, DOCKER)

FENCED = re.compile(r"^```(\w*)(?: ([\w.=-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    language: str
    how: str
    text: str

    @property
    def is_run(self) -> bool:
        if self.language == "python":
            return self.how.startswith("file=")
        return self.language in ("sh", "sql") and self.how != "elsewhere"


def sections(page: Path) -> dict[str, list[Block]]:
    """Every block of a page, by its heading, in their order."""
    found: dict[str, list[Block]] = {}
    text, title, place = page.read_text(encoding="utf-8"), "", 0
    for block in FENCED.finditer(text):
        for heading in HEADING.finditer(text, place, block.start()):
            title = heading[1]
            found.setdefault(title, [])
        found[title].append(Block(block[1], block[2] or "", block[3]))
        place = block.end()
    return found


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings of a page."""
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in HEADING.findall(prose)}
