"""Every policy key against every type and value that is not its own, from one table."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import psycopg
import pytest

from tests.validation.ask import Json, RawJson, accepted, refused, text

DAYS_366 = 366 * 86400 * 1000
UUID = "0b4e7a3c-9d51-4c1e-8a61-2f0d7c5b9e13"

TYPES: dict[str, Json] = {
    "null": RawJson("null"),
    "boolean": True,
    "number": 1,
    "string": "x",
    "array": [],
    "object": {},
}


@dataclass
class Key:
    """One key: its JSON type, values that are fine, and values that are not with what is named."""

    type: str
    good: list[Json]
    bad: dict[str, str] = field(default_factory=dict)
    needs: dict[str, Json] = field(default_factory=dict)


def integer(low: int, high: int) -> Key:
    return Key(
        "number",
        [low, low + 1, high, RawJson("1e0"), RawJson("1e2")],
        {
            str(low - 1): f"nearest allowed is {low}",
            "-1": f"nearest allowed is {low}",
            "-0.5": f"nearest allowed is {low}",
            "-1e400": f"nearest allowed is {low}",
            str(high + 1): f"nearest allowed is {high}",
            "1e400": f"nearest allowed is {high}",
            "9" * 1000: f"nearest allowed is {high}",
            "1.5": "nearest whole number is 2",
            "1.25": "nearest whole number is 1",
            "1.0": "nearest whole number is 1",
        },
    )


def words(*allowed: str, nearly: dict[str, str]) -> Key:
    bad = {json.dumps(word): f'nearest is "{nearest}"' for word, nearest in nearly.items()}
    return Key(
        "string", list(allowed), bad | {'""': "nearest is", '"' + "x" * 5000 + '"': "nearest is"}
    )


POLICIES: dict[str, dict[str, Key]] = {
    "approval": {
        "requiresApproval": Key("boolean", [True, False]),
        "mode": words(
            "every_node",
            "sensitive_actions",
            "on_block",
            nearly={
                "everyNode": "every_node",
                "sensitive": "sensitive_actions",
                "on block": "on_block",
            },
        ),
        "gates": Key(
            "array",
            [[], ["publish"], ["publish", "publish"], ["g"] * 64, ["é" * 200], ["- "]],
            {
                '["publish", 1]': "1",
                '["publish", null]': "null",
                '["publish", ["spend"]]': '["spend"]',
                '["publish", {"a": 1}]': '{"a": 1}',
                "[true]": "true",
                '["publish", ""]': '""',
                '["  "]': '"  "',
                json.dumps(["g"] * 65): "nearest allowed is 64",
                json.dumps(["g" * 201]): "gggg",
                json.dumps(["g"] * 100000): "nearest allowed is 64",
            },
        ),
        "expiresAfterMs": integer(1, DAYS_366),
    },
    "retry": {
        "maxRetries": integer(0, 1000),
        "backoffMs": integer(0, DAYS_366),
        "retryOn": Key(
            "array",
            [
                [],
                ["timeout"],
                ["timeout", "timeout"],
                ["timeout", "provider_error", "rate_limit", "contract_violated"],
            ],
            {
                '["timeout", "time_out"]': 'nearest is "timeout"',
                '["time-outs"]': 'nearest is "timeout"',
                '["rateLimits"]': 'nearest is "rate_limit"',
                '["contract"]': 'nearest is "contract_violated"',
                '["provider error"]': 'nearest is "provider_error"',
                '["TIMEOUT"]': 'nearest is "timeout"',
                '["timeout", null]': "null",
                '["timeout", 1]': "1",
                '[""]': '""',
                '[["timeout"]]': '["timeout"]',
            },
        ),
        "timeoutMs": integer(1, DAYS_366),
    },
    "failure": {
        "mode": words(
            "isolate",
            "halt",
            nearly={"isolated": "isolate", "Halt": "halt", "fallbacks": "fallback"},
        ),
        "fallbackAssigneeId": Key(
            "string",
            [UUID, UUID.upper()],
            {
                '"x"': "not a uuid",
                '""': "not a uuid",
                f'"{UUID}0"': "not a uuid",
                f'"{UUID[:-1]}"': "not a uuid",
                f'" {UUID}"': "not a uuid",
                f'"{UUID}\\n"': "not a uuid",
                f'"{{{UUID}}}"': "not a uuid",
                f'"{UUID[:-1]}g"': "not a uuid",
                '"' + UUID.replace("-", "") + '"': "not a uuid",
                '"' + UUID.replace("-", "", 2) + '"': "not a uuid",
            },
            {"mode": "fallback"},
        ),
    },
    "queue": {
        "mode": words(
            "parallel",
            "serial",
            nearly={"paralel": "parallel", "Serial": "serial", "seriel": "serial"},
        ),
        "maxConcurrency": integer(1, 10_000),
        "priority": integer(0, 2**31 - 1),
        "onMissed": words(
            "skip",
            "run_once",
            "backfill",
            "spread",
            nearly={
                "backfil": "backfill",
                "runOnce": "run_once",
                "SKIP": "skip",
                "skipped": "skip",
                "spraed": "spread",
            },
        ),
        "maxBackfill": integer(0, 10_000_000),
        "spreadWindowMs": integer(0, DAYS_366),
        "onOverlap": words(
            "skip",
            "queue",
            "replace",
            nearly={"queued": "queue", "replaced": "replace", "sikp": "skip"},
        ),
    },
}
KEYS = [(policy, key) for policy, keys in POLICIES.items() for key in keys]


def call(policy: str) -> str:
    return f"lenses.fn_check_{policy}_policy(%s::jsonb)"


def holding(rule: Key, key: str, value: Json) -> str:
    """The policy's text, the value written as it is."""
    rest = {f"{name}": text(other) for name, other in rule.needs.items()} | {key: text(value)}
    return "{" + ", ".join(f'"{name}": {other}' for name, other in rest.items()) + "}"


@pytest.mark.parametrize(("policy", "key"), KEYS)
def test_good_values(shared_db: psycopg.Connection, policy: str, key: str) -> None:
    rule = POLICIES[policy][key]
    for value in rule.good:
        accepted(shared_db, call(policy), holding(rule, key, value))


@pytest.mark.parametrize(("policy", "key"), KEYS)
def test_wrong_types(shared_db: psycopg.Connection, policy: str, key: str) -> None:
    rule = POLICIES[policy][key]
    for type_, value in TYPES.items():
        if type_ != rule.type:
            message = refused(
                shared_db,
                call(policy),
                holding(rule, key, value),
                naming=[f"{policy}_policy.{key}", "must be", type_],
            )
            assert message


@pytest.mark.parametrize(("policy", "key"), KEYS)
def test_wrong_values(shared_db: psycopg.Connection, policy: str, key: str) -> None:
    rule = POLICIES[policy][key]
    for value, named in rule.bad.items():
        refused(
            shared_db,
            call(policy),
            holding(rule, key, RawJson(value)),
            naming=[f"{policy}_policy.{key}", named],
        )


@pytest.mark.parametrize(("policy", "key"), KEYS)
def test_a_misspelt_key_names_the_right_one(
    shared_db: psycopg.Connection, policy: str, key: str
) -> None:
    rule = POLICIES[policy][key]
    snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in key)
    for wrong in {key + "s", key[:-1], key[0].upper() + key[1:], key.upper(), " " + key, snake} - {
        key
    }:
        refused(
            shared_db,
            call(policy),
            holding(rule, wrong, rule.good[0]),
            naming=[f"{policy}_policy", f'unknown key "{wrong}"', f'nearest is "{key}"'],
        )


@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_and_no_object(shared_db: psycopg.Connection, policy: str) -> None:
    accepted(shared_db, call(policy), "{}")
    accepted(shared_db, call(policy), None)
    for value in ("null", "true", "1", '"parallel"', "[]", '[{"mode": "serial"}]'):
        refused(
            shared_db, call(policy), value, naming=[f"{policy}_policy must be a JSON object", value]
        )
    for key in ("", "x", "k" * 1_000_000, "🙂", "a.b", 'say "x"', "%s %I", "__proto__"):
        refused(
            shared_db,
            call(policy),
            json.dumps({key: 1}),
            naming=[f"{policy}_policy", "unknown key"],
        )


def test_the_documents_own_policies(shared_db: psycopg.Connection) -> None:
    for policy, value in (
        ("approval", {"requiresApproval": True}),
        ("retry", {"maxRetries": 1}),
        ("failure", {"mode": "isolate"}),
        ("queue", {"mode": "parallel"}),
        ("queue", {"mode": "serial", "onMissed": "backfill", "maxBackfill": 1_000_000}),
        ("queue", {"mode": "serial", "maxConcurrency": 1, "priority": 5}),
        ("failure", {"mode": "fallback", "fallbackAssigneeId": UUID}),
    ):
        accepted(shared_db, call(policy), json.dumps(value))


def test_every_combination_of_overlap(shared_db: psycopg.Connection) -> None:
    """Only skip spelled out where serial meets backfill or spread contradicts itself."""
    for mode in (None, "parallel", "serial"):
        for missed in (None, "skip", "run_once", "backfill", "spread"):
            for overlap in (None, "skip", "queue", "replace"):
                given = {"mode": mode, "onMissed": missed, "onOverlap": overlap}
                policy = json.dumps({key: word for key, word in given.items() if word})
                if (mode, overlap) == ("serial", "skip") and missed in ("backfill", "spread"):
                    refused(
                        shared_db, call("queue"), policy, naming=["onOverlap", missed, "serial"]
                    )
                else:
                    accepted(shared_db, call("queue"), policy)


def test_every_combination_of_fallback(shared_db: psycopg.Connection) -> None:
    for mode in (None, "isolate", "halt", "fallback"):
        for assignee in (None, UUID):
            given = {"mode": mode, "fallbackAssigneeId": assignee}
            policy = json.dumps({key: word for key, word in given.items() if word})
            if (mode == "fallback") == bool(assignee):
                accepted(shared_db, call("failure"), policy)
            else:
                refused(shared_db, call("failure"), policy, naming=["fallbackAssigneeId"])


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("cron", "cron_expr"),
        ("intervalMs", "interval_ms"),
        ("TimeZone", "timezone"),
        ("kind", "id"),
        ("", "id"),
        ("cronexpr", "cron_expr"),
        ("cron-expresion", "cron_expr"),
        ("q" * 10_000_000, "id"),
    ],
)
def test_nearest(shared_db: psycopg.Connection, word: str, nearest: str) -> None:
    row = shared_db.execute(
        "select lenses.fn_closest_word(%s, array['id', 'cron_expr', 'timezone', 'interval_ms'])",
        (word,),
    ).fetchone()
    assert row == (nearest,)


def test_nearest_is_blind_to_case_and_separators(shared_db: psycopg.Connection) -> None:
    row = shared_db.execute(
        "select lenses.fn_closest_word('a_b c', array['axbxc', 'A-B-C'])"
    ).fetchone()
    assert row == ("A-B-C",)


def test_nearest_of_none(shared_db: psycopg.Connection) -> None:
    row = shared_db.execute("select lenses.fn_closest_word('x', '{}')").fetchone()
    assert row == (None,)
