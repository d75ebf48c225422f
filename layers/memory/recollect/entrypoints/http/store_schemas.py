"""JSON schemas of the answers about memories and their store: a part of `schemas.ANSWERS`."""

from typing import Any

from recollect.core.event import Source
from recollect.entrypoints.http.fields import Schema
from recollect.entrypoints.http.schema_pieces import (
    COUNT,
    FLAG,
    FREE,
    SHARE,
    TEXT,
    TEXTS,
    TIME,
    many,
    ref,
    shape,
    words,
)
from recollect.jobs.job import JobStatus
from recollect.memories.audit import OUTCOMES, Action, ActorKind
from recollect.memories.memory import MemoryStatus, Origin

_MEMORY: dict[str, Schema] = {
    "id": TEXT,
    "user_id": TEXT,
    "content": TEXT,
    "importance": SHARE,
    "source": words(*Source),
    "keywords": TEXTS,
    "timestamp": TIME,
    "status": words(*MemoryStatus),
    "valid_from": TIME,
    "recorded_at": TIME,
    "source_event_ids": TEXTS,
    "origin": words(*Origin),
    "metadata": FREE,
    "version": COUNT,
}
_FAILURE = shape(
    {
        "user_id": TEXT,
        "event_id": TEXT,
        "error": TEXT,
        "tries": COUNT,
        "quarantined": FLAG,
        "first_at": TIME,
        "last_at": TIME,
    },
    {"next_at": TIME},
)
LAPSE = shape({"by": TEXT, "start": COUNT, "end": COUNT, "since": TIME, "rule": TEXT}, {"until": TIME})
_OF_SOME_MEMORIES: dict[str, Schema] = {
    "persona_id": TEXT,
    "household_id": TEXT,
    "key": TEXT,
    "valid_to": TIME,
    "superseded_by": TEXT,
    "expires_at": TIME,
    "embedding_id": TEXT,
    "settled_by": TEXT,
    "lapses": many(LAPSE),
}
_CHANGE: dict[str, Schema] = {
    "at": TIME,
    "actor": shape({"kind": words(*ActorKind), "id": TEXT}),
    "action": words(*Action),
    "via": TEXT,
    "rule": TEXT,
    "reason": TEXT,
}
MEMORY = shape(_MEMORY, _OF_SOME_MEMORIES)
MEMORY_VERSION = shape(_MEMORY, {**_OF_SOME_MEMORIES, **_CHANGE})

STORE_ANSWERS: dict[str, Any] = {
    "Memory": MEMORY,
    "MemorySaved": {"anyOf": [ref("Memory"), ref("MemoryRefused")]},
    "MemoryRefused": shape({"refused": TEXTS}),
    "MemoriesPage": shape({"memories": many(ref("Memory"))}, {"next_cursor": TEXT}),
    "MemoryHistory": shape({"history": many(ref("MemoryVersion"))}),
    "MemoryVersion": MEMORY_VERSION,
    "SignalAnswer": shape(
        {"type": words("warning", "healthy"), "suspended": FLAG}, {"event_id": TEXT, "forwarded": FLAG}
    ),
    "AuditEntry": shape(
        {
            "id": TEXT,
            "at": TIME,
            "actor": shape({"kind": words(*ActorKind), "id": TEXT}),
            "action": words(*Action),
            "target_ids": TEXTS,
            "via": TEXT,
        },
        {
            "rule": TEXT,
            "reason": TEXT,
            "event_ids": TEXTS,
            "outcome": words(*OUTCOMES),
            "before": FREE,
            "after": FREE,
        },
    ),
    "AuditPage": shape({"entries": many(ref("AuditEntry"))}, {"next_cursor": TEXT}),
    "BusPage": shape({"events": many(shape({"id": TEXT, "type": TEXT, "time": TIME, "detail": FREE}))}),
    "ErasureAccepted": shape({"erasure_id": TEXT}),
    "Erasure": shape(
        {
            "status": words("running", "done"),
            "reached": {"type": "object", "additionalProperties": COUNT},
            "lapses": many(shape({"part": TEXT, "until": TIME})),
            "verified": FLAG,
            "at": TIME,
        }
    ),
    "RejectionsPage": shape({"rejections": many(ref("Rejection"))}, {"next_cursor": TEXT}),
    "Rejection": shape(
        {"id": TEXT, "time": TIME, "scope": shape({"user_id": TEXT}, {"persona_id": TEXT, "household_id": TEXT})}
    ),
    "Job": shape(
        {
            "job_id": TEXT,
            "kind": TEXT,
            "status": words(*JobStatus),
            "counts": {"type": "object", "additionalProperties": COUNT},
            "errors": many(shape({"error": TEXT, "count": COUNT})),
            "asked_at": TIME,
        },
        {"progress": SHARE, "finished_at": TIME, "failures": many(_FAILURE)},
    ),
    "Lines": TEXT,
    "ImportAnswer": shape(
        {**dict.fromkeys(("created", "duplicate", "refused", "invalid"), COUNT)},
        {"errors": many(shape({"line": COUNT, "message": TEXT}))},
    ),
    "SnapshotsPage": shape(
        {
            "snapshots": many(
                shape(
                    {"id": TEXT, "created_at": TIME, "counts": {"type": "object", "additionalProperties": COUNT}},
                    {"user_id": TEXT},
                )
            )
        },
        {"next_cursor": TEXT},
    ),
}
