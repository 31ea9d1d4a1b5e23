"""Definitions of workflows: form, limits, cycles against an oracle, and the actions of the nodes."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import psycopg
import pytest

from tests.validation.ask import Json, accepted, refused, text

CHECK = "lenses.fn_check_definition(%s::jsonb)"


def nodes(*ids: str) -> list[Json]:
    return [{"id": id_} for id_ in ids]


def edges(*pairs: str) -> list[Json]:
    """Edges as words: ab leads from a to b."""
    return [{"from": pair[0], "to": pair[1]} for pair in pairs]


def timed(trigger: Json) -> Json:
    return {"triggers": [{"id": "t", "type": "schedule_based", "cron_expr": "0 3 * * *"} | trigger]}


GOOD: list[Json] = [
    {},
    {"nodes": []},
    {"nodes": [], "edges": [], "triggers": []},
    {"nodes": nodes("a")},
    {"nodes": nodes("a", "b"), "edges": edges("ab", "ab", "ba", "aa")},
    {"nodes": [{"id": "a", "action": "publish", "label": "A", "x": 1, "config": {"deep": [1]}}]},
    {"nodes": [{"id": "a", "action": None}]},
    {"nodes": nodes("a", "b"), "edges": [{"from": "a", "to": "b", "when": "ok", "id": 7}]},
    {"nodes": nodes("1", " ", "é", "A", "a")},
    {"name": "mine", "layout": {"zoom": 1}},
    timed({}),
    timed({"timezone": "Europe/Istanbul", "queue_policy": {"mode": "serial"}, "is_active": False}),
    {"triggers": [{"id": "t", "type": "schedule_based", "interval_ms": 600000}]},
    {"triggers": [{"id": "t", "type": "schedule_based", "interval_ms": 600000, "cron_expr": None}]},
    {"triggers": [{"id": "hook", "type": "webhook", "url": "https://example.com", "cron": 5}]},
    {"triggers": [{"id": "a", "type": "webhook"}, {"id": "b", "type": "webhook"}]},
    {"nodes": nodes("t"), **timed({})},
]
BAD: list[tuple[Json, list[str]]] = [
    (True, ["object"]),
    ([], ["object"]),
    ("x", ["object"]),
    ({"nodes": {}}, ["definition.nodes", "array"]),
    ({"nodes": None}, ["definition.nodes", "array", "null"]),
    ({"edges": "ab"}, ["definition.edges", "array"]),
    ({"triggers": {"id": "t"}}, ["definition.triggers", "array"]),
    ({"nodes": ["a"]}, ["definition.nodes[0]", "id", '"a"']),
    ({"nodes": [None]}, ["definition.nodes[0]", "id"]),
    ({"nodes": [["id"]]}, ["definition.nodes[0]", "id"]),
    ({"nodes": [{"id": "a"}, {"name": "b"}]}, ["definition.nodes[1]", "id"]),
    ({"nodes": [{"id": 1}]}, ["definition.nodes[0]", "id"]),
    ({"nodes": [{"id": None}]}, ["definition.nodes[0]", "id"]),
    ({"nodes": [{"id": ""}]}, ["definition.nodes[0]", "id"]),
    ({"nodes": nodes("a", "b", "a")}, ["definition.nodes", '"a"', "twice"]),
    ({"nodes": [{"id": "a", "action": 1}]}, ["action", '"a"']),
    ({"nodes": [{"id": "a", "action": ["publish"]}]}, ["action", '"a"']),
    ({"nodes": [{"id": "a", "action": False}]}, ["action", '"a"']),
    ({"nodes": nodes("a"), "edges": ["aa"]}, ["definition.edges[0]"]),
    ({"nodes": nodes("a"), "edges": [{"from": "a"}]}, ["definition.edges[0]"]),
    ({"nodes": nodes("a"), "edges": [{"to": "a"}]}, ["definition.edges[0]"]),
    ({"nodes": nodes("a"), "edges": [{"from": "a", "to": 1}]}, ["definition.edges[0]"]),
    ({"nodes": nodes("a"), "edges": [{"from": None, "to": "a"}]}, ["definition.edges[0]"]),
    ({"nodes": nodes("a"), "edges": edges("aa", "ab")}, ["definition.edges[1]", '"b"']),
    ({"nodes": nodes("a"), "edges": edges("ba")}, ["definition.edges[0]", '"b"']),
    ({"edges": edges("ab")}, ["definition.edges[0]", '"a"']),
    ({"nodes": nodes("a"), "edges": edges("aA")}, ["definition.edges[0]", '"A"']),
    ({"triggers": ["nightly"]}, ["definition.triggers[0]", "id"]),
    ({"triggers": [{"type": "schedule_based"}]}, ["definition.triggers[0]", "id"]),
    ({"triggers": [{"id": 5, "type": "webhook"}]}, ["definition.triggers[0]", "id"]),
    ({"triggers": [{"id": "t"}]}, ['"t"', "type"]),
    ({"triggers": [{"id": "t", "type": 5}]}, ['"t"', "type"]),
    ({"triggers": [{"id": "t", "type": "x"}, {"id": "t", "type": "y"}]}, ['"t"', "twice"]),
    ({"triggers": [{"id": "t", "type": "schedule_based"}]}, ['"t"', "time"]),
    (timed({"cron_expr": None}), ['"t"', "time"]),
    (timed({"cron_expr": 5}), ['"t"', "time"]),
    (timed({"cron_expr": None, "interval_ms": "600000"}), ['"t"', "time"]),
    (timed({"interval_ms": True}), ['"t"', "time"]),
    (timed({"cron": "0 3 * * *"}), ['"t"', '"cron"', 'nearest is "cron_expr"']),
    (timed({"tz": "UTC"}), ['"t"', '"tz"', "nearest is"]),
    (timed({"timeZone": "UTC"}), ['"t"', '"timeZone"', 'nearest is "timezone"']),
    (timed({"p_timezone": "UTC"}), ['"t"', '"p_timezone"', 'nearest is "timezone"']),
    (timed({"schedule_id": "x"}), ['"t"', '"schedule_id"']),
    (timed({"workflow_id": "x"}), ['"t"', '"workflow_id"']),
    (timed({"onMissed": "skip"}), ['"t"', '"onMissed"']),
]


@pytest.mark.parametrize("definition", GOOD)
def test_good(shared_db: psycopg.Connection, definition: Json) -> None:
    accepted(shared_db, CHECK, text(definition))


@pytest.mark.parametrize(("definition", "naming"), BAD)
def test_bad(shared_db: psycopg.Connection, definition: Json, naming: list[str]) -> None:
    refused(shared_db, CHECK, text(definition), naming=naming)


def test_the_keys_of_a_trigger_are_the_parameters_of_the_upsert(db: psycopg.Connection) -> None:
    """A parameter added to the RPC belongs into the triggers too."""
    row = db.execute(
        """
        select array(
          select substr(n, 3) from unnest(p.proargnames) n where n not in ('p_workflow_id', 'p_schedule_id')
        )
        from pg_proc p where p.oid = to_regproc('public.fn_upsert_workflow_schedule')
        """
    ).fetchone()
    assert row is not None
    keys = row[0]
    assert "cron_expr" in keys
    for key in keys:
        value = {"cron_expr": "0 3 * * *", "interval_ms": 600000}.get(key)
        accepted(db, CHECK, text(timed({key: value})))


def test_limits(shared_db: psycopg.Connection) -> None:
    # {"a": ""} is 9 characters
    accepted(shared_db, CHECK, text({"a": "x" * (1048576 - 9)}))
    refused(
        shared_db, CHECK, text({"a": "x" * (1048576 - 8)}), naming=["definition", "1048576 bytes"]
    )
    accepted(shared_db, CHECK, '{"a": %s}' % ("[" * 63 + "]" * 63))
    refused(
        shared_db, CHECK, '{"a": %s}' % ("[" * 64 + "]" * 64), naming=["definition", "64 levels"]
    )
    # the definition and the array are two values
    accepted(shared_db, CHECK, text({"a": [0] * 199_998}))
    refused(shared_db, CHECK, text({"a": [0] * 199_999}), naming=["definition", "200000 values"])
    accepted(shared_db, CHECK, text({"nodes": [{"id": str(n)} for n in range(50_000)]}))
    refused(
        shared_db,
        CHECK,
        text({"nodes": [{"id": str(n)} for n in range(50_001)]}),
        naming=["definition", "50001 nodes"],
    )


def cycle_of(conn: psycopg.Connection, definition: Json) -> list[str] | None:
    row = conn.execute("select lenses.fn_workflow_cycle(%s::jsonb)", (text(definition),)).fetchone()
    assert row is not None
    return row[0]


CYCLES: list[tuple[list[str], list[str] | None]] = [
    ([], None),
    (["ab"], None),
    (["ab", "bc"], None),
    (["ab", "ac", "bd", "cd"], None),
    (["ab", "ab"], None),
    (["aa"], ["a", "a"]),
    (["ab", "ba"], ["a", "b", "a"]),
    (["ab", "bc", "ca"], ["a", "b", "c", "a"]),
    (["ca", "bc", "ab"], ["a", "b", "c", "a"]),
    (["ab", "bb"], ["b", "b"]),
    (["bb", "ba"], ["b", "b"]),
    (["ab", "bc", "cd", "db"], ["b", "c", "d", "b"]),
    (["ab", "ba", "bz"], ["a", "b", "a"]),
    (["xy", "yz", "ab", "bc", "ca"], ["a", "b", "c", "a"]),
]


@pytest.mark.parametrize(("pairs", "cycle"), CYCLES)
def test_cycles(shared_db: psycopg.Connection, pairs: list[str], cycle: list[str] | None) -> None:
    assert cycle_of(shared_db, {"edges": edges(*pairs)}) == cycle
    assert cycle_of(shared_db, {"nodes": nodes("q", "a", "b"), "edges": edges(*pairs)}) == cycle


@pytest.mark.parametrize(
    "definition",
    [
        "null",
        "5",
        '"x"',
        "[]",
        "{}",
        '{"edges": null}',
        '{"edges": {}}',
        '{"edges": "ab"}',
        '{"edges": [1, "a", null]}',
        '{"edges": [{"from": "a"}, {"to": "a"}, {"from": 1, "to": 1}, {"from": null, "to": null}]}',
        None,
    ],
)
def test_what_is_no_graph_has_no_cycle(
    shared_db: psycopg.Connection, definition: str | None
) -> None:
    row = shared_db.execute(
        "select lenses.fn_workflow_cycle(%s::jsonb), lenses.fn_workflow_actions(%s::jsonb)",
        (definition, definition),
    ).fetchone()
    assert row == (None, [])


def test_ids_are_compared_exactly(shared_db: psycopg.Connection) -> None:
    assert cycle_of(shared_db, {"edges": edges("aA", "bB")}) is None
    tricky = [{"from": "a,b", "to": '"'}, {"from": '"', "to": "{}"}, {"from": "{}", "to": "a,b"}]
    assert cycle_of(shared_db, {"edges": tricky}) == ['"', "{}", "a,b", '"']


def has_cycle(pairs: list[tuple[int, int]]) -> bool:
    """Taking away nodes without a way in, where the function takes those without a way out."""
    left = {node for pair in pairs for node in pair}
    rest = list(pairs)
    while True:
        sources = left - {target for _, target in rest}
        if not sources:
            return bool(left)
        left -= sources
        rest = [(source, target) for source, target in rest if source not in sources]


def test_random_graphs(shared_db: psycopg.Connection) -> None:
    dice = random.Random(11)
    found = {True: 0, False: 0}
    for _ in range(600):
        size = dice.randrange(1, 12)
        count = dice.randrange(0, 2 * size)
        pairs = [(dice.randrange(size), dice.randrange(size)) for _ in range(count)]
        if dice.random() < 0.4:
            pairs = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
        graph = {"edges": [{"from": f"n{source}", "to": f"n{target}"} for source, target in pairs]}
        cycle = cycle_of(shared_db, graph)
        found[cycle is not None] += 1
        assert (cycle is not None) == has_cycle(pairs), pairs
        if cycle:
            walk = [int(node[1:]) for node in cycle]
            assert walk[0] == walk[-1]
            assert len(set(walk)) == len(walk) - 1
            assert all(step in pairs for step in pairwise(walk)), (pairs, walk)
    assert min(found.values()) > 100


def test_a_large_graph_and_a_long_ring(shared_db: psycopg.Connection) -> None:
    """5,000 nodes and 20,000 edges; and one long ring, whose cycle is the whole graph."""
    dice = random.Random(5)
    pairs = [sorted(dice.sample(range(5000), 2)) for _ in range(20_000)]
    wide = json.dumps({"edges": [{"from": f"n{a}", "to": f"n{b}"} for a, b in pairs]})
    ring = json.dumps(
        {"edges": [{"from": f"n{n}", "to": f"n{(n + 1) % 5000}"} for n in range(5000)]}
    )
    row = shared_db.execute("select lenses.fn_workflow_cycle(%s::jsonb)", (wide,)).fetchone()
    assert row == (None,)
    row = shared_db.execute(
        "select cardinality(lenses.fn_workflow_cycle(%s::jsonb))", (ring,)
    ).fetchone()
    assert row == (5001,)


@pytest.mark.parametrize(
    ("definition", "actions"),
    [
        ({}, []),
        ({"nodes": nodes("a")}, []),
        (
            {"nodes": [{"id": "1", "action": "spend"}, {"id": "2", "action": "publish"}]},
            ["publish", "spend"],
        ),
        (
            {"nodes": [{"action": "b"}, {"action": "a"}, {"action": "b"}, {"action": "B"}]},
            ["B", "a", "b"],
        ),
        ({"nodes": [{"action": None}, {"action": 1}, {"action": ["x"]}, 5, "a", None, [], {}]}, []),
        ({"nodes": {"action": "x"}}, []),
    ],
)
def test_actions(shared_db: psycopg.Connection, definition: Json, actions: list[str]) -> None:
    row = shared_db.execute(
        "select lenses.fn_workflow_actions(%s::jsonb)", (text(definition),)
    ).fetchone()
    assert row == (actions,)
