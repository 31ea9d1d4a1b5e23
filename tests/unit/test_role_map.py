"""Roles that another has to stand in for, and what that does to the SQL."""

from __future__ import annotations

import pytest

from lf_sql.roles import RoleFacts, render, role_map, weaker

NAMES = ("lf_sql_owner", "lf_sql_engine", "anon", "authenticated", "service_role")
MISSING = RoleFacts(False, False, False)
OURS = RoleFacts(True, True, True)
FOREIGN = RoleFacts(True, False, False)


def mapped(
    fact: RoleFacts, *, can_create: bool = False, can_own_public: bool = True
) -> dict[str, str]:
    return role_map(
        dict.fromkeys(NAMES, fact), user="me", can_create=can_create, can_own_public=can_own_public
    )


def test_who_needs_a_stand_in() -> None:
    assert mapped(OURS) == {}
    assert mapped(MISSING, can_create=True) == {}
    assert mapped(MISSING) == dict.fromkeys(NAMES, "me")
    assert mapped(FOREIGN) == {"lf_sql_owner": "me", "lf_sql_engine": "me"}
    assert mapped(OURS, can_own_public=False) == {"lf_sql_owner": "me", "lf_sql_engine": "me"}


@pytest.mark.parametrize(
    ("sql", "rendered"),
    [
        ("to lf_sql_owner;", 'to "o\'hara";'),
        ("current_user = 'lf_sql_engine'", "current_user = 'o''hara'"),
        ("-- to lf_sql_owner\n", "-- to lf_sql_owner\n"),
        ("'it''s lf_sql_engine''s'", "'it''s lf_sql_engine''s'"),
        ("policy x_lf_sql_owner_all", "policy x_lf_sql_owner_all"),
        ("$$ select 'lf_sql_owner' $$", "$$ select 'o''hara' $$"),
        ("to anon", "to anon"),
    ],
)
def test_render(sql: str, rendered: str) -> None:
    assert render(sql, dict.fromkeys(NAMES, "o'hara")) == rendered


def test_render_in_grants_and_policies() -> None:
    assert render("to anon, service_role", {"anon": "me"}, grants=True) == 'to "me", service_role'
    assert render("to anon", {}, grants=True) == "to anon"


def test_weaker_says_what_it_costs() -> None:
    assert weaker({}) == []
    assert len(weaker(mapped(MISSING))) == 2
