"""The routes, in groups: a function of the cloud serves one of them, the laptop's server all."""

from collections.abc import Iterable
from importlib import import_module

from recollect.entrypoints.http.routing import Route

GROUPS = (
    "ingest", "retrieval", "memories", "context", "operations", "rules", "knowledge", "tools", "turns", "forgetting",
    "summaries", "jobs", "bridge", "snapshots", "arbitration", "merge_rules", "contradictions",
    "items", "logs",
)  # fmt: skip


OWN_SERVER = ("mem0",)
"""What a server of one's own answers beside them, and no function of the cloud (docs/integrations/mem0.md)."""


def routes_of(groups: Iterable[str]) -> list[Route]:
    """The routes of these groups, in order; only their modules are imported."""
    return [route for group in groups for route in import_module(f"{__name__}.{group}").routes]
