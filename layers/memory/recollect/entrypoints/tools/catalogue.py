"""The tools by name: enough to list them and to tell a model of them, without importing any."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """A tool as a model reads of it; `module` of this package holds it.

    `reads_only` and `deletes` are hints for whoever asks a person before a call is made.
    """

    module: str
    parameters: str
    description: str
    reads_only: bool = False
    deletes: bool = False


BUILT_IN: Mapping[str, Entry] = {
    "manage_knowledge": Entry(
        "knowledge",
        '{namespace, key?, value?, action?: "upsert" | "delete" | "read" | "list"}',
        "Keeps what words and rules mean. In namespace vocabulary a key is {store}:{term} and the value "
        "{target, description?}; in rule the key is a concept and the value {condition, applies_to?, description?}; "
        "in correction the value is {instruction, trigger}. The action is upsert unless another is named.",
        deletes=True,
    ),
    "save_memory": Entry(
        "memories",
        "{content, importance?: 0 to 1, keywords?: [text], key?}",
        "Remembers a fact about the user. With a key it becomes that key's current value.",
    ),
    "search_memory": Entry(
        "memories",
        "{query, top_k?: 1 to 100}",
        "Finds what was said or remembered earlier, best first.",
        reads_only=True,
    ),
    "forget_memory": Entry(
        "memories", "{id} or {key}", "Deletes one memory by its id, or all that a key ever held.", deletes=True
    ),
    "record_event": Entry(
        "events",
        '{content, event_type?: "conversation" | "task" | "reminder" | "emotion" | "preference" | "custom", '
        "timestamp?}",
        "Writes down something that happened or is due, at its time.",
    ),
    "track_goal": Entry(
        "goals",
        '{goal, status?: "active" | "completed" | "abandoned", check_in_frequency?}',
        "Follows a goal of the user's over conversations, or says that it is done or given up.",
    ),
}

WITH_RECALL: Mapping[str, Entry] = {
    "recall_context": Entry(
        "recalling",
        '{input, conversation_id?, token_budget?, store?, form?: "prompt" | "messages"}',
        "What is remembered that matters for what the user says now: recent, related and important memories, "
        "summary, goals, knowledge. Call it before you answer.",
        reads_only=True,
    ),
    **BUILT_IN,
}
"""For a model whose context somebody else builds: it asks for its memory itself."""

INSTRUCTIONS = """\
You can call tools. A call is a block of its own in your answer: the tool's name, one JSON object, the end marker.
[[ABP_TOOL:search_memory]]
{"query": "where the user lives"}
[[END_ABP_TOOL]]
Call a tool only where it helps with what the user says now. The tools:
""" + "\n".join(f"- {name} {entry.parameters}: {entry.description}" for name, entry in BUILT_IN.items())
"""What a model is told of the tools, as part of its instructions."""
