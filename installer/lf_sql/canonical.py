"""Brings definitions that the server prints to one form. Pure.

`a AND (b AND c)` is printed as `(a AND b) AND c` or `a AND b AND c`, as it was first written: a
dump and restore changes which. The meaning is the same, and so is the form here.
"""

from __future__ import annotations

import re

Node = str | list["Node"]

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()]|[^\s()'\"]+")


def canonical(text: str) -> Node:
    """The text as nested lists of words, without brackets that do not matter."""
    root: list[Node] = []
    stack = [root]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            group = stack.pop()
            stack[-1].append(group)
        else:
            stack[-1].append(token)
    return _flat(root)


def _flat(node: Node) -> Node:
    if isinstance(node, str):
        return node
    children = [_flat(child) for child in node]
    while len(children) == 1 and isinstance(children[0], list):
        children = children[0]
    operator = _operator(children)
    result: list[Node] = []
    for child in children:
        if operator and isinstance(child, list) and _operator(child) == operator:
            result += child
        else:
            result.append(child)
    return result


def _operator(children: list[Node]) -> str | None:
    """AND or OR, where it alone joins the group."""
    found = {child for child in children if child in ("AND", "OR")}
    return str(found.pop()) if len(found) == 1 else None
