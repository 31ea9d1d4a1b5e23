"""YAML with positions: each value knows its file, its line and its path.

Stricter than YAML 1.1: only true and false are booleans, dates stay text, no key is used twice.
Anchors, aliases and `<<` are taken; what they unfold to is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import yaml

from lf_sql.ascode.exact import AFTER, exponent
from lf_sql.errors import LfSqlError

MOST = 2_000_000  # values that a file may unfold to
DEEPEST = 70
LARGEST = 307  # power of ten of a number
_VARIABLE = re.compile(r"\$(\$\{)|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_TAG = "tag:yaml.org,2002:"
_WHOLES = {f"{_TAG}map", f"{_TAG}seq"}
_RESOLVERS = [
    ("bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF"),
    ("int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), "-+0123456789"),
    (
        "float",
        re.compile(r"^[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"),
        "-+0123456789",
    ),
    ("null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("merge", re.compile(r"^<<$"), "<"),
]

_PLAIN = {name: pattern for name, pattern, _ in _RESOLVERS if name != "merge"}
_KEYS = {*_PLAIN, "str", "timestamp"}

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Loader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader (libyaml's where it is there) with JSON's idea of values."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _name, _pattern, _first in _RESOLVERS:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _pattern, list(_first))


@dataclass(frozen=True)
class Value:
    """A value of the file: a mapping or list of Values, or a scalar."""

    value: Any
    file: str
    line: int
    path: str

    def plain(self) -> Any:
        """As JSON would have it."""
        match self.value:
            case dict():
                return {key: item.plain() for key, item in self.value.items()}
            case list():
                return [item.plain() for item in self.value]
        return self.value

    def wrong(self, message: str, hint: str | None = None) -> LfSqlError:
        """The error of this value, with its position."""
        path = f" {self.path}:" if self.path else ""
        return LfSqlError(f"{self.file}:{self.line}:{path} {message}", hint)

    def unknown_tag(self, tag: str) -> LfSqlError:
        """The error of a tag that means nothing here."""
        return self.wrong(f"the tag {tag[:60]} is not known", "write the value without a tag")

    def items(self) -> Iterator[tuple[str, Value]]:
        """Of a mapping."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"this is {kind_of(self.value)}; a mapping of names belongs here")
        yield from self.value.items()


def kind_of(value: Any) -> str:
    """What it is, in words."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | Decimal():
            return f"the number {value}"
        case str():
            return f'the text "{value[:60]}"'
        case list():
            return "a list"
    return "a mapping"


def read(text: str, file: str, environ: Mapping[str, str] | None = None) -> Value:
    """The one document of a file. With `environ`, ${NAME} and ${NAME:-default} are filled in."""
    with troubles(file):
        node = yaml.compose(text, Loader)
        if node is None:
            return Value({}, file, 1, "")
        bound([node], file)
    return _Reader(file, environ).value(node, "", 0)


@contextmanager
def troubles(file: str) -> Iterator[None]:
    """PyYAML's errors within it as LfSqlError, with the line where there is one."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise LfSqlError(
            f"{file}:{line}: this is no YAML: {error.problem or error.context}",
            'quote what holds ": " or begins with * or @: cron: "*/5 * * * *"',
        ) from None
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        raise LfSqlError(f"{file}: this is no YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise LfSqlError(f"{file}: this YAML is nested too deep") from None


def bound(nodes: Sequence[yaml.Node], file: str) -> None:
    """LfSqlError where the documents of a file are too many values, their aliases written out."""
    if sum(_unfolded(node, {}) for node in nodes) > MOST:
        raise LfSqlError(f"{file}: with its aliases written out this is more than {MOST} values")


def depth(node: yaml.Node, known: dict[int, int]) -> int:
    """How deep it is nested, more than DEEPEST where it holds itself; `known` as of _unfolded."""
    if id(node) not in known:
        known[id(node)] = DEEPEST
        known[id(node)] = 1 + max((depth(part, known) for part in _parts(node)), default=0)
    return known[id(node)]


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [item for _, item in node.value]
    return node.value if isinstance(node, yaml.SequenceNode) else []


def _unfolded(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values the node is, each alias written out; `known` holds those counted, by id."""
    if id(node) not in known:
        known[id(node)] = 1  # what holds itself ends here, and is refused for its depth
        known[id(node)] += sum(_unfolded(part, known) for part in _parts(node))
    return known[id(node)]


class _Reader:
    def __init__(self, file: str, environ: Mapping[str, str] | None) -> None:
        self.file = file
        self.environ = environ
        self.resolver = yaml.resolver.Resolver()
        self.resolver.yaml_implicit_resolvers = Loader.yaml_implicit_resolvers

    def value(self, node: yaml.Node, path: str, depth: int) -> Value:
        here = Value(None, self.file, node.start_mark.line + 1, path)
        if depth > DEEPEST:
            raise here.wrong(f"nested more than {DEEPEST} deep, or an alias that holds itself")
        found: Any
        match node:
            case yaml.MappingNode() | yaml.SequenceNode() if node.tag not in _WHOLES:
                raise here.unknown_tag(node.tag)
            case yaml.MappingNode():
                found = self.mapping(node, here, depth)
            case yaml.SequenceNode():
                found = [
                    self.value(item, f"{path}[{number}]", depth + 1)
                    for number, item in enumerate(node.value)
                ]
            case _:
                assert isinstance(node, yaml.ScalarNode)
                found = self.scalar(node, here)
        return Value(found, self.file, here.line, path)

    def mapping(self, node: yaml.MappingNode, here: Value, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        lines: dict[str, int] = {}
        merged: dict[str, Value] = {}
        for key_node, item in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                parts = item.value if isinstance(item, yaml.SequenceNode) else [item]
                for part in parts:
                    whole = self.value(part, here.path, depth + 1)
                    for key, value in whole.items():
                        merged.setdefault(key, value)
                continue
            there = Value(None, self.file, line, here.path)
            if not isinstance(key_node, yaml.ScalarNode):
                raise there.wrong("a key is text, nothing else")
            if key_node.tag.removeprefix(_TAG) not in _KEYS:
                raise there.unknown_tag(key_node.tag)
            key = self.taken(self.filled(key_node.value, there), there)
            path = f"{here.path}.{key}" if here.path else key
            if key in lines:
                raise Value(None, self.file, line, path).wrong(
                    f"this key is used twice, first in line {lines[key]}", "remove one of the two"
                )
            lines[key] = line
            value = self.value(item, path, depth + 1)
            found[key] = Value(value.value, self.file, line, path)
        return {**{k: v for k, v in merged.items() if k not in found}, **found}

    def scalar(self, node: yaml.ScalarNode, here: Value) -> Any:
        text, tag = str(node.value), node.tag
        if self.environ is not None and "${" in text:
            text = self.filled(text, here)
            if node.style is None:
                tag = self.resolver.resolve(yaml.ScalarNode, text, (True, False))
        word = tag.removeprefix(_TAG)
        if word in _PLAIN and not _PLAIN[word].match(text):
            raise here.wrong(f"this is no {word}: {text[:40]}", "write the value without a tag")
        match word:
            case "bool":
                return text.lower() == "true"
            case "null":
                return None
            case "int":
                try:
                    return int(text)
                except ValueError:
                    raise here.wrong(f"this number cannot be read: {text[:40]}") from None
            case "float":
                return self.fraction(text, here)
            case "str" | "timestamp" | "merge":
                return self.taken(text, here)
        raise here.unknown_tag(node.tag)

    def taken(self, text: str, here: Value) -> str:
        """The text; raises where the database would not take it."""
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            raise here.wrong("the database takes no such character")
        return text

    def fraction(self, text: str, here: Value) -> Decimal:
        """Every digit of it; its size is what other programs can read as well."""
        try:
            number = Decimal(text)
        except InvalidOperation:
            raise here.wrong(f"this number cannot be read: {text[:40]}") from None
        if number.is_zero():
            return Decimal(0)
        if abs(number.adjusted()) > LARGEST:
            size = "large" if number.adjusted() > 0 else "small"
            raise here.wrong(f"this number is too {size}: {text[:40]}")
        if exponent(number) < -AFTER:
            raise here.wrong(f"this number has too many digits after the point: {text[:40]}")
        return number

    def filled(self, text: str, here: Value) -> str:
        """With the variables of the environment in it."""
        if self.environ is None:
            return text

        def fill(match: re.Match[str]) -> str:
            if match[1]:
                return match[1]
            found = self.environ.get(match[2], match[3]) if self.environ is not None else None
            if found is None:
                raise here.wrong(
                    f"the environment has no {match[2]}",
                    f"set it, give a default as ${{{match[2]}:-…}}, or write $${{ for a plain ${{",
                )
            return found

        return _VARIABLE.sub(fill, text)
