"""The five roles of the sources, and what stands for them where they cannot be made."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

OWNER, ENGINE = "lf_sql_owner", "lf_sql_engine"
OWNERS = (OWNER, ENGINE)
API_ROLES = ("anon", "authenticated", "service_role")


@dataclass(frozen=True)
class RoleFacts:
    """What the server says of one role and of us: see sql/queries/facts.sql."""

    exists: bool
    is_usable: bool  # exists, and we have its privileges and may set it
    is_grantable: bool  # we may make ourselves a member


def role_map(
    facts: Mapping[str, RoleFacts], *, user: str, can_create: bool, can_own_public: bool
) -> dict[str, str]:
    """Roles that the installing role must replace; {} where all five exist or can be made."""

    def reachable(name: str) -> bool:
        role = facts[name]
        return role.is_usable or role.is_grantable or (not role.exists and can_create)

    mapped: dict[str, str] = {}
    if not (can_own_public and all(reachable(name) for name in OWNERS)):
        mapped |= dict.fromkeys(OWNERS, user)
    for name in API_ROLES:
        if not facts[name].exists and not can_create:
            mapped[name] = user
    return mapped


def quote_ident(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quote_literal(text: str) -> str:
    quoted = "'" + text.replace("'", "''") + "'"
    return "E" + quoted.replace("\\", "\\\\") if "\\" in text else quoted


# A comment, a text, or a name; texts and names inside $$ bodies are texts and names too.
_TOKEN = re.compile(r"--[^\n]*|'(?:[^']|'')*'|[A-Za-z_][A-Za-z_0-9$]*")


def render(sql: str, mapped: Mapping[str, str], *, grants: bool = False) -> str:
    """The SQL with the owner roles (in grants and policies the API roles too) replaced.

    A text that is a role's name becomes a text, a bare name an identifier; all else stays.
    """
    names = {name: to for name, to in mapped.items() if grants or name in OWNERS}
    if not names:
        return sql

    def replace(match: re.Match[str]) -> str:
        token = match[0]
        if token in names:
            return quote_ident(names[token])
        if token.startswith("'") and token[1:-1] in names:
            return quote_literal(names[token[1:-1]])
        return token

    return _TOKEN.sub(replace, sql)


def weaker(mapped: Mapping[str, str]) -> list[str]:
    """What a mapping costs, one line a point, for install and verify to say."""
    lines = []
    if OWNER in mapped:
        lines.append(
            f"tables and definer functions belong to {mapped[OWNER]}, because it may not make the "
            "roles lf_sql_owner and lf_sql_engine: a check forgotten in a function is not caught "
            "by row security"
        )
    missing = [name for name in API_ROLES if name in mapped]
    if missing:
        lines.append(
            f"the roles {', '.join(missing)} do not exist and may not be made here: "
            f"only {mapped[missing[0]]} can call the functions meant for them"
        )
    return lines
