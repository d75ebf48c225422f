"""One event of `POST /v1/events`, read into a draft; what is wrong with it stays with it."""

from collections.abc import Sequence
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.event import SPOKEN_TYPES, ContentType, EventType, Role, Source
from recollect.entrypoints.http.fields import (
    Field,
    Refused,
    Shape,
    choice,
    finite,
    flag,
    identifier,
    instant,
    list_of,
    number,
    refuse,
    text,
    whole,
)
from recollect.entrypoints.http.json_values import metadata
from recollect.settings import Settings
from recollect.timeline.ingest import FieldError, InvalidDraft
from recollect.timeline.record import EventDraft

CONTENT_BYTES = 64 * 1024
NOTES_BYTES = 16 * 1024
TITLE_BYTES = 4 * 1024
LONGEST_VECTOR = 4096
_DEFAULT_DIMENSION = 384
_CONFIGURED = ("openai", "bedrock", "onnx")


def vector() -> Field:
    """A list of finite numbers, not all 0; its length is checked against the embedder's."""

    def read(value: Any) -> list[float]:
        values = [float(entry) for entry in list_of(Field(finite, {}), 1, LONGEST_VECTOR).read(value)]
        largest = max(map(abs, values))
        if largest == 0:
            raise refuse("must not be all 0")
        return [entry / largest for entry in values]  # so that no length overflows in 32 bits

    return Field(read, {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": LONGEST_VECTOR})


EVENT = Shape(
    "NewEvent",
    {
        "role": choice("user", "bot", "assistant").described("`assistant` is stored as `bot`; absent: `user`."),
        "speaker": identifier().described("Name of who spoke."),
        "content": text(max_bytes=CONTENT_BYTES, blank=False).needed().described("At most 64 KiB of UTF-8."),
        "content_type": text(max_bytes=128).described(
            f"One of {', '.join(ContentType)}; an unknown one is scored as `default`. "
            "Absent: `userinput`, for a bot `assistantresponse`."
        ),
        "event_type": choice(*SPOKEN_TYPES).described("Absent: `conversation`."),
        "source": choice(*Source).described("Absent: `user`, for a bot `conversation`."),
        "timestamp": instant().described("When it was said; absent: now. Without a zone it is UTC."),
        "importance": number(0, 1).described("Used as given, without boost; absent: scored by the rules."),
        "key": identifier().described("The slot whose value this is: the newest event of a key is its value."),
        "space_id": identifier(),
        "title": text(max_bytes=TITLE_BYTES),
        "category": text(max_bytes=TITLE_BYTES),
        "notes": text(max_bytes=NOTES_BYTES),
        "views": whole(0),
        "is_private": flag().described("Private events are listed and exported, and never found."),
        "expires_at": instant().described("Gone from every read from that instant on."),
        "embedding": vector().described("The caller's own vector, of the embedder's dimension."),
        "metadata": metadata().described("At most 16 KiB of JSON, 8 levels. `source_id` names an importer's turn."),
    },
)


def embedding_dimension(settings: Settings) -> int:
    """The length of this deployment's vectors, known without loading the model."""
    return settings.embedding_dimension if settings.embedder in _CONFIGURED else _DEFAULT_DIMENSION


def drafts_of(events: Sequence[Any], dimension: int) -> list[EventDraft | InvalidDraft]:
    """One draft per event, in order."""
    return [_draft(event, dimension) for event in events]


def _draft(event: Any, dimension: int) -> EventDraft | InvalidDraft:
    try:
        values = EVENT.read(event)
        return EventDraft(**values | _enumerated(values) | _packed(values, dimension))
    except Refused as refused:
        return InvalidDraft(refused.faults)
    except InvalidInput as error:
        return InvalidDraft((FieldError(error.loc, str(error)),))


def _enumerated(values: dict[str, Any]) -> dict[str, Any]:
    role = Role.BOT if values.get("role") in ("bot", "assistant") else Role.USER
    source = Source(values["source"]) if "source" in values else None
    if role is Role.BOT and source is Source.USER:
        raise refuse("a bot's words are not the user's: source user goes with role user only", "source")
    event_type = EventType(values.get("event_type", EventType.CONVERSATION))
    return {"role": role, "source": source, "event_type": event_type}


def _packed(values: dict[str, Any], dimension: int) -> dict[str, Any]:
    if "embedding" not in values:
        return {}
    from recollect.core.vectors import pack_vector, vector_of  # numpy comes with it

    return {"embedding": pack_vector(vector_of(values["embedding"], dimension, ("embedding",)))}
