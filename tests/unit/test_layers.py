"""Commands stand on top: no module below lf_sql.cli knows of them, and none imports another in a circle."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from importlib.util import find_spec
from pathlib import Path

SPEC = find_spec("lf_sql")
assert SPEC
assert SPEC.origin
ROOT = Path(SPEC.origin).parent
MODULES = {
    "lf_sql."
    + ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if path != ROOT / "__init__.py"
}
BELOW = sorted(
    name for name in MODULES if not name.startswith("lf_sql.cli") and name != "lf_sql.__main__"
)


def imports(name: str, *, all_of_it: bool) -> set[str]:
    """The modules of ours that a module imports; without `all_of_it` only as it is loaded."""
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree) if all_of_it else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {one if one in MODULES else str(node.module) for one in full}
    return {one for one in found if one in MODULES}


def test_nothing_below_imports_a_command() -> None:
    upward = {
        (name, other)
        for name in BELOW
        for other in imports(name, all_of_it=True)
        if other.startswith("lf_sql.cli")
    }
    assert len(BELOW) > 50
    assert upward == set()


def test_no_module_imports_itself_in_a_circle() -> None:
    """A package's __init__ is loaded before what is in it, so it stands for itself alone."""
    graph = {name: imports(name, all_of_it=False) for name in MODULES}
    TopologicalSorter(graph).prepare()
