"""Environment variables that have no effect, and the setting to use instead of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

OVERLAP = {
    "allow": "default_queue_mode parallel",
    "skip": "default_queue_mode serial (and default_on_overlap skip, which is the default)",
    "queue": "default_queue_mode serial, and default_on_overlap queue",
}
CATCHUP = {
    "none": "default_on_missed skip",
    "fire_immediately": "default_on_missed backfill",
    "spread": "default_on_missed spread",
}


def lines(environ: Mapping[str, str]) -> Iterator[str]:
    """One for each variable that is set: the settings are the database's, for every driver."""
    for name, meant, otherwise in (
        ("DEFAULT_OVERLAP_POLICY", OVERLAP, "default_queue_mode, and default_on_overlap"),
        ("DEFAULT_CATCHUP_POLICY", CATCHUP, "default_on_missed"),
        ("DEFAULT_JITTER_MS", {}, "default_jitter_ms"),
    ):
        value = environ.get(name, "").strip()
        if value:
            if name == "DEFAULT_JITTER_MS" and value.isascii() and value.isdigit():
                otherwise = f"default_jitter_ms {int(value)}"
            setting = meant.get(value.lower(), otherwise)
            yield f"{name} has no effect: the database keeps it, lf-sql settings set {setting}"
