"""The documents of a YAML file as Kubernetes writes it, whatever its aliases and tags would do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from lf_sql.ascode import source
from lf_sql.errors import LfSqlError

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG = "tag:yaml.org,2002:"
_WORDS = {f"{_TAG}{word}" for word in ("bool", "float", "int", "null", "timestamp")}
LONGEST = 1000  # characters of a number


class Loader(_Base):  # type: ignore[misc]
    """YAML 1.1 without its times: to Kubernetes 2026-12-24 and 12:30 are text."""


def _unless_time(kind: str) -> None:
    usual = _Base.yaml_constructors[_TAG + kind]

    def construct(loader: Any, node: yaml.ScalarNode) -> Any:
        is_time = kind == "timestamp" or ":" in node.value
        return loader.construct_scalar(node) if is_time else usual(loader, node)

    Loader.add_constructor(_TAG + kind, construct)


for _kind in ("float", "int", "timestamp"):
    _unless_time(_kind)


def documents(text: str, file: str) -> list[Any]:
    """What each document says, by YAML 1.1. LfSqlError where it is none, too large or too deep."""
    loader = Loader(text)
    try:
        with source.troubles(file):
            nodes = []
            while loader.check_node():
                nodes.append(loader.get_node())
            source.bound(nodes, file)
            for node in nodes:
                _check(node, file, loader)
            return [loader.construct_document(node) for node in nodes]
    finally:
        loader.dispose()


def _check(document: yaml.Node, file: str, loader: Any) -> None:
    """LfSqlError for what the constructor of values does not expect."""
    if source.depth(document, {}) > source.DEEPEST:
        line = document.start_mark.line + 1
        raise LfSqlError(
            f"{file}:{line}: nested more than {source.DEEPEST} deep, or an alias that holds itself"
        )
    for node in _scalars(document, set()):
        word = node.tag.removeprefix(_TAG)
        plain = loader.resolve(yaml.ScalarNode, node.value, (True, False)).removeprefix(_TAG)
        is_so = plain == word or (word, plain) == ("float", "int")
        if not is_so or (word in ("float", "int") and len(node.value) > LONGEST):
            raise LfSqlError(
                f"{file}:{node.start_mark.line + 1}: this is no {word}: {node.value[:40]}",
                "write the value without a tag",
            )


def _scalars(node: yaml.Node, seen: set[int]) -> Iterator[yaml.ScalarNode]:
    """Those that are no text, each once, keys too."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        if node.tag in _WORDS:
            yield node
        return
    for part in node.value:
        for one in part if isinstance(part, tuple) else (part,):
            yield from _scalars(one, seen)
