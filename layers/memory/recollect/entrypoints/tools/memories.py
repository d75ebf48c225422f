"""The tools `save_memory`, `search_memory` and `forget_memory`."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from recollect.application.recall import RecallRequest
from recollect.application.search_memory import SearchResult
from recollect.domain.drafting import EventDraft
from recollect.domain.event import ContentType, EventType
from recollect.domain.filters import SearchFilters
from recollect.domain.instants import iso
from recollect.domain.ranking import Mode
from recollect.entrypoints.tools.events import authorship, store
from recollect.entrypoints.tools.parameters import Identifier, Parameters, Said, Share
from recollect.entrypoints.tools.tool import Invocation, Outcome, Tool, fitting

MOST_KEYWORDS = 50


def _keyword_list(value: Any) -> Any:
    """VCP knows only text: there, keywords are separated by commas."""
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


class SaveMemory(Parameters):
    """Of `save_memory`."""

    content: Said = Field(description="One fact, as a sentence that is understood by itself.")
    importance: Share | None = Field(None, description="0 to 1; absent: by the rules.")
    keywords: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=128)]] | None,
        BeforeValidator(_keyword_list),
        Field(max_length=MOST_KEYWORDS),
    ] = None
    key: Identifier | None = Field(None, description="The slot whose value this is, such as home_city.")


class SearchMemory(Parameters):
    """Of `search_memory`."""

    query: Said
    top_k: int = Field(10, ge=1, le=100)


class ForgetMemory(Parameters):
    """Of `forget_memory`: one of the two."""

    id: Identifier | None = Field(None, description="As search_memory names it.")
    key: Identifier | None = Field(None, description="The slot whose values are all deleted.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.id is None) == (self.key is None):
            raise ValueError("either id or key is required, and only one of them")
        return self


def save_memory(invocation: Invocation, given: SaveMemory) -> Outcome:
    """Records the fact as an event of type `custom` and answers its id: memories of their own are not built yet."""
    draft = EventDraft(
        **authorship("save_memory", {"keywords": list(given.keywords)} if given.keywords else None),
        content=given.content,
        content_type=ContentType.CONTEXTUALFACT,
        event_type=EventType.CUSTOM,
        importance=given.importance,
        key=given.key,
    )
    return store(invocation, draft)


def search_memory(invocation: Invocation, given: SearchMemory) -> Outcome:
    """What the user's memory holds about the query, best first."""
    request = RecallRequest(
        text=given.query,
        vector=None,
        mode=Mode.HYBRID,
        filters=SearchFilters(now=invocation.now),
        wanted=given.top_k,
    )
    found = fitting([_found(result) for result in invocation.app.search(invocation.scope, request).results])
    return Outcome({"results": found.pop("entries"), **found})


def _found(result: SearchResult) -> dict[str, Any]:
    event = result.event
    known = {
        "id": event.id,
        "content": event.content,
        "timestamp": iso(event.timestamp),
        "role": event.role.value,
        "source": event.source.value,
        "importance": event.importance,
        "key": event.key,
        "score": round(result.ranked.score, 6),
    }
    return {name: value for name, value in known.items() if value is not None}


def forget_memory(invocation: Invocation, given: ForgetMemory) -> Outcome:
    """Deletes what the scope admits, and leaves tombstones of it. Raises NotFound for anything else."""
    forgotten = invocation.app.forget(invocation.scope, event_id=given.id, key=given.key, now=invocation.now)
    return Outcome({"deleted": list(forgotten.event_ids)})


def _say_saved(_given: SaveMemory, result: Mapping[str, Any]) -> str:
    return "I have remembered that." if result["status"] == "created" else "I knew that already."


def _say_found(_given: SearchMemory, result: Mapping[str, Any]) -> str:
    count = len(result["results"])
    return f"I found {count} {'memory' if count == 1 else 'memories'}." if count else "I found nothing about that."


def _say_forgotten(_given: ForgetMemory, _result: Mapping[str, Any]) -> str:
    return "I have forgotten that."


TOOLS: Mapping[str, Tool] = {
    "save_memory": Tool(SaveMemory, save_memory, _say_saved),
    "search_memory": Tool(SearchMemory, search_memory, _say_found, lambda _given: False),
    "forget_memory": Tool(ForgetMemory, forget_memory, _say_forgotten),
}
