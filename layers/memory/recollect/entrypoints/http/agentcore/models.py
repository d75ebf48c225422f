"""Bodies and query strings of AgentCore's operations, as botocore 1.44.5 sends them."""

import json
from typing import Annotated, Any, TypeAlias

from pydantic import ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from recollect.entrypoints.http.models import Instant, Maybe, RequestModel, check_depth, fault, is_unicode

_MOST_LEVELS = 68
"""Of a body; a part of a payload has 64."""


class AgentBody(RequestModel):
    """A body of AgentCore's; what is not read is passed over."""

    model_config = ConfigDict(extra="ignore", alias_generator=to_camel)

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        check_depth(value, _MOST_LEVELS)
        if not is_unicode(json.dumps(value, ensure_ascii=False)):
            raise fault("has half of a surrogate pair, which is no Unicode text")
        return value


Items: TypeAlias = list[dict[str, Any]]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=100)]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=255)]
SessionName: TypeAlias = Annotated[str, Field(min_length=1, max_length=100)]
Namespace: TypeAlias = Annotated[str, Field(min_length=1, max_length=1024)]
Days: TypeAlias = Annotated[int, Field(ge=3, le=3650)]
ClientToken: TypeAlias = Annotated[str, Field(max_length=500)]


class PageBody(AgentBody):
    max_results: Limit = 20
    next_token: Maybe[str] = None


class IndexedKey(AgentBody):
    key: Annotated[str, Field(min_length=1, max_length=128)]
    type: str


class NamedStrategy(AgentBody):
    memory_strategy_id: str


class ChangedStrategy(NamedStrategy):
    description: Maybe[str] = None
    namespaces: Maybe[list[str]] = None
    namespace_templates: Maybe[list[str]] = None


class StrategyChanges(AgentBody):
    add_memory_strategies: Maybe[Items] = None
    modify_memory_strategies: Maybe[list[ChangedStrategy]] = None
    delete_memory_strategies: Maybe[list[NamedStrategy]] = None


class CreateMemory(AgentBody):
    client_token: Maybe[ClientToken] = None
    name: str
    description: Maybe[str] = None
    event_expiry_duration: Days
    encryption_key_arn: Maybe[str] = None
    memory_execution_role_arn: Maybe[str] = None
    memory_strategies: Maybe[Items] = None
    indexed_keys: Maybe[list[IndexedKey]] = None
    namespace_keys: Maybe[Items] = None
    stream_delivery_resources: Maybe[dict[str, Any]] = None


class UpdateMemory(AgentBody):
    client_token: Maybe[ClientToken] = None
    description: Maybe[str] = None
    event_expiry_duration: Maybe[Days] = None
    memory_execution_role_arn: Maybe[str] = None
    memory_strategies: Maybe[StrategyChanges] = None
    add_indexed_keys: Maybe[list[IndexedKey]] = None
    namespace_keys: Maybe[Items] = None
    stream_delivery_resources: Maybe[dict[str, Any]] = None


class EventBranch(AgentBody):
    name: Annotated[str, Field(min_length=1, max_length=100)]
    root_event_id: Maybe[str] = None


class StringValue(AgentBody):
    string_value: Annotated[str, Field(max_length=256)]


class CreateEvent(AgentBody):
    actor_id: Name
    session_id: Maybe[SessionName] = None
    event_timestamp: Instant
    payload: Annotated[Items, Field(max_length=100)]
    branch: Maybe[EventBranch] = None
    client_token: Maybe[str] = None
    metadata: Maybe[Annotated[dict[str, StringValue], Field(max_length=15)]] = None
    extraction_mode: Maybe[str] = None


class BranchFilter(AgentBody):
    name: str
    include_parent_branches: bool = False


class EventsFilter(AgentBody):
    branch: Maybe[BranchFilter] = None
    event_metadata: Maybe[Annotated[Items, Field(max_length=5)]] = None


class ListEvents(PageBody):
    include_payloads: bool = True
    filter: EventsFilter = EventsFilter()


class SessionsFilter(AgentBody):
    event_filter: Maybe[str] = None


class ListSessions(PageBody):
    filter: SessionsFilter = SessionsFilter()


class SearchCriteria(AgentBody):
    search_query: Annotated[str, Field(min_length=1, max_length=10_000)]
    memory_strategy_id: Maybe[str] = None
    top_k: Limit = 10
    metadata_filters: Maybe[Annotated[Items, Field(max_length=5)]] = None


class RetrieveRecords(AgentBody):
    namespace: Maybe[Namespace] = None
    namespace_path: Maybe[Namespace] = None
    search_criteria: SearchCriteria
    max_results: Maybe[Limit] = None


class ListRecords(PageBody):
    namespace: Maybe[Namespace] = None
    namespace_path: Maybe[Namespace] = None
    memory_strategy_id: Maybe[str] = None
    metadata_filters: Maybe[Annotated[Items, Field(max_length=5)]] = None


class RecordContent(AgentBody):
    text: Annotated[str, Field(min_length=1, max_length=16_000)]


class RecordFields(AgentBody):
    timestamp: Instant
    namespaces: Annotated[list[Namespace], Field(max_length=1)]
    memory_strategy_id: Maybe[str] = None
    metadata: Maybe[Annotated[dict[str, dict[str, Any]], Field(max_length=20)]] = None


class NewRecord(RecordFields):
    request_identifier: Annotated[str, Field(min_length=1, max_length=80)]
    content: RecordContent


class ChangedRecord(RecordFields):
    memory_record_id: str
    namespaces: Maybe[Annotated[list[Namespace], Field(max_length=1)]] = None  # type: ignore[assignment]
    content: Maybe[RecordContent] = None


class NamedRecord(AgentBody):
    memory_record_id: str


class CreateRecords(AgentBody):
    records: Annotated[list[NewRecord], Field(max_length=100)]
    client_token: Maybe[str] = None
    record_expiry_specification: Maybe[dict[str, Any]] = None


class UpdateRecords(AgentBody):
    records: Annotated[list[ChangedRecord], Field(max_length=100)]


class DeleteRecords(AgentBody):
    records: Annotated[list[NamedRecord], Field(max_length=100)]


class MemoryQuery(AgentBody):
    client_token: Maybe[ClientToken] = None
    view: Maybe[str] = None


class RecordQueryString(AgentBody):
    namespace: Maybe[str] = None
