"""The routes, in groups: a function of the cloud serves one of them, the laptop's server all."""

from collections.abc import Iterable
from importlib import import_module

from recollect.entrypoints.http.routing import Route

GROUPS = (
    "ingest", "retrieval", "memories", "context", "operations", "rules", "knowledge", "tools", "turns", "forgetting",
    "summaries", "jobs", "bridge", "snapshots", "arbitration", "merge_rules", "contradictions",
    "items", "logs", "usage",
)  # fmt: skip


SECTIONS = {
    "ingest": ("Say", "Every message goes in. The answer comes when it is durable; the rest is derived from it."),
    "context": ("Context", "What the next model call should see of all that was said, with the reason for each line."),
    "turns": ("Whole turns", "Store the input, build the context, ask the model, store the answer: in one request."),
    "retrieval": ("Search and timeline", "Find what was said, and read it in order."),
    "memories": ("Memories", "What is worth knowing of what was said: read it, correct it, see what it was before."),
    "contradictions": ("What changed", "What was decided between memories, taken back or settled by a person."),
    "forgetting": ("Forget", "What is deleted goes everywhere, and stays away."),
    "summaries": ("Summaries and goals", "Long conversations in short, and what a user wants to reach."),
    "snapshots": ("Export and import", "A user's records as lines of JSON, and the tenant's snapshots."),
    "items": ("Items", "Exact JSON documents at a namespace and a key, in the wire of LangGraph's store."),
    "logs": ("Session logs", "A conversation's entries, exact and in order: any JSON, with branches. And the users."),
    "tools": ("Tool calls", "Tool calls that a model writes into its text, read and made."),
    "knowledge": ("Knowledge", "Terms, rules and corrections of your field."),
    "rules": ("Rules", "What scores, tags and decides, as data."),
    "merge_rules": ("Merge rules", "How an arbitration weighs, by the sort of statement."),
    "arbitration": ("Arbitration", "Statements weighed against one another, without a store."),
    "bridge": ("Audit and promotion", "Who changed what, and what became of each event."),
    "jobs": ("Jobs", "What runs by schedule, by hand."),
    "usage": ("Usage", "What was asked for, this month and in all."),
    "operations": ("Operations", "Health, readiness, and this document."),
}
"""Of each group the title and a sentence, in the order in which one learns them."""

OWN_SERVER = ("mem0", "agentcore")
"""What a server of one's own answers beside them (docs/integrations/), and a function of the cloud each."""


def routes_of(groups: Iterable[str]) -> list[Route]:
    """The routes of these groups, in order; only their modules are imported."""
    return [route for group in groups for route in import_module(f"{__name__}.{group}").routes]
