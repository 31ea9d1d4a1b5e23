"""The demonstration: one tenant's yesterday, played in seconds, worked off, and judged."""
