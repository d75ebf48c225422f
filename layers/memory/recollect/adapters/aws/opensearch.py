"""The port `SearchIndex` on OpenSearch: one alias for each embedder generation, one `msearch` for each nomination.

Also the connection: its address, SigV4 signing for managed domains, and its errors as the errors of Recollect.
opensearch-py is imported at the first request: it takes 0.2 s, which functions that do not search save.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from recollect.adapters.aws.dry_run import is_dry
from recollect.adapters.aws.index_format import IndexPlan, document_id, mapping_format, owner_of, scope_of, source_of
from recollect.adapters.aws.index_queries import NominationQuery, nominations_of
from recollect.adapters.connections import noted
from recollect.core.errors import (
    ConfigurationError,
    NotReady,
    RecollectError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    WritesBlocked,
)
from recollect.core.event import EventRef
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.time import from_microseconds
from recollect.ports import IndexFailure
from recollect.retrieval.nomination import IndexCount, IndexDocument, IndexedPage, NominationRequest, Nominations

if TYPE_CHECKING:
    from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth
    from opensearchpy.exceptions import TransportError

URL_VARIABLE = "RECOLLECT_OPENSEARCH_URL"
WRITES_BLOCKED = (
    "the index is blocked for writes: the search engine's storage or memory is used up, "
    "and a larger volume or instance ends that; searches go on"
)
_LONGEST_KIND = 64
_BLOCKS = ("cluster_block_exception", "index_create_block_exception")
_DOMAIN = re.compile(
    r"\.(?P<region>[a-z0-9-]+)\.(?P<service>es|aoss)\.amazonaws\.com(\.cn)?$|\.aos\.(?P<region2>[a-z0-9-]+)\.on\.aws$"
)


@dataclass(frozen=True, slots=True)
class Signing:
    """SigV4 with the SDK's credentials. `service` is `es` for a managed domain, `aoss` for a serverless collection."""

    region: str
    service: str = "es"

    def auth(self) -> Urllib3AWSV4SignerAuth:
        """Signs each request, with fresh credentials. Raises ConfigurationError where there are none."""
        from botocore.session import get_session
        from opensearchpy import Urllib3AWSV4SignerAuth

        credentials = get_session().get_credentials()
        if credentials is None:
            raise ConfigurationError("AWS_ACCESS_KEY_ID", "no AWS credentials to sign requests to OpenSearch with")
        return Urllib3AWSV4SignerAuth(credentials, self.region, self.service)


def signing_for(url: str) -> Signing | None:
    """Signing for a managed domain or a serverless collection.

    None for any other address, and where the URL has a user of its own.
    """
    parts = urlsplit(url)
    found = _DOMAIN.search(parts.hostname or "")
    if found is None or parts.username is not None:
        return None
    return Signing(found["region"] or found["region2"], found["service"] or "es")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSearchConnection:
    """The engine's address, time-outs and retries.

    The URL may carry user and password (basic authentication); `signing` replaces them on a managed domain. A request
    ends after `timeout_seconds`; a broken connection, or a 502, 503 or 504, is tried again `retries` times. All tries
    together connect for `timeout_seconds` at most.
    """

    url: str
    signing: Signing | None = None
    timeout_seconds: float = 2.0
    retries: int = 1
    connections: int = 10

    def open(self) -> OpenSearch:
        """A client; nothing is sent yet. Raises ConfigurationError for a URL that is none."""
        from opensearchpy import OpenSearch
        from urllib3 import Timeout

        require_url(self.url)
        for name in ("opensearch", "opensearchpy.trace"):  # below a warning they log bodies: terms and vectors
            logging.getLogger(name).setLevel(logging.WARNING)
        signed = {"http_auth": self.signing.auth()} if self.signing else {}
        return OpenSearch(
            [self.url],
            timeout=Timeout(total=self.timeout_seconds, connect=self.timeout_seconds / (self.retries + 1)),
            max_retries=self.retries,
            retry_on_timeout=False,
            pool_maxsize=self.connections,
            **signed,
        )


def require_url(url: str) -> None:
    """Raises ConfigurationError unless it is an http or https address."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(URL_VARIABLE, "an address such as https://host:9200 is needed")


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turns opensearch-py's errors into RecollectError by type and status, never by text.

    An answer may quote the request, so the foreign error is not the cause.
    """
    from opensearchpy import exceptions

    try:
        yield
    except exceptions.ConnectionError as error:  # time-outs and broken TLS are such, too
        raise Unavailable(f"OpenSearch does not answer: {type(error).__name__}") from None
    except exceptions.TransportError as error:
        raise failure_of(error.status_code, _kind_of(error)) from None
    except exceptions.OpenSearchException as error:
        raise UpstreamFailed(f"OpenSearch answered what cannot be read: {type(error).__name__}") from None


def _kind_of(error: TransportError) -> str:
    """The type that the engine names; for a request that failed in parts, that of its first part."""
    parts = error.info.get("failures") if isinstance(error.info, dict) else None
    named = str(parts[0].get("cause", {}).get("type", "")) if parts else str(error.error)
    # Without a JSON content type the client gives the body for the type, which may quote a memory.
    return named if named.isidentifier() and len(named) <= _LONGEST_KIND else "unnamed"


def failure_of(status: int | str, kind: str) -> RecollectError:
    """The error of an engine's status and error type."""
    if is_block(status, kind):
        return WritesBlocked(WRITES_BLOCKED)
    if status == 429:
        return Throttled(f"OpenSearch is asked too much: {kind}")
    if status in (401, 403):
        return NotReady("OpenSearch refuses our credentials; see `recollect doctor`")
    if status == 404:
        return NotReady("the index is missing; the function jobs makes it within a minute, or `recollect init`")
    if not isinstance(status, int) or status in (408, 502, 503, 504) or status >= 500:
        return Unavailable(f"OpenSearch failed with {status}: {kind}")
    return UpstreamFailed(f"OpenSearch refused a request with {status}: {kind}")


def is_block(status: int | str, kind: str) -> bool:
    """Whether the engine refuses all writes: 403, or 429 where it ran out of storage.

    A block of the same type with 503 is that of a cluster that has not started.
    """
    return status in (403, 429) and kind in _BLOCKS


Item = TypeVar("Item")

OLDEST_ENGINE = (2, 19)
DOCUMENTS_A_REQUEST = 100
REQUESTS_AT_ONCE = 2
REMOVAL_ATTEMPTS = 3
SET_UP_TIMEOUT_SECONDS = 30
DROP_TIMEOUT_SECONDS = 60
_UUID_CHARACTERS = 20
_WRITE_BLOCKS = ("write", "read_only", "read_only_allow_delete")
_ANSWERED = (
    "responses.status,responses.error.type,responses.timed_out,responses.terminated_early,responses._shards.failed,"
    "responses.hits.total.value,responses.hits.hits._source,responses.aggregations"
)


class OpenSearchIndex:
    """`SearchIndex` on OpenSearch 2.19 or 3.x with k-NN (Lucene engine).

    Each document has the version of its event: the engine ignores an older one that arrives late. A removal takes the
    version that it finds, so it beats older writes and loses to newer ones; it leaves a tombstone for `gc_deletes`
    (60 s). A document that was never indexed leaves none: the writer re-reads the event afterwards (P-25).
    """

    def __init__(self, connection: OpenSearchConnection, plan: IndexPlan, *, by_words: bool = False) -> None:
        self._connection = connection
        self._plan = plan
        self._by_words = by_words

    @cached_property
    def _client(self) -> OpenSearch:
        noted(self, OpenSearchIndex.disconnect)
        return self._connection.open()

    def disconnect(self) -> None:
        """Closes connections; the next request opens a client anew."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()

    @property
    def generation(self) -> str:
        return self._plan.generation_name

    def holds_vectors(self, tenant: str) -> bool:  # noqa: ARG002 - of every tenant
        return self._plan.has_vectors and not self._by_words

    def of(self, generation: str) -> OpenSearchIndex:
        other = OpenSearchIndex(self._connection, self._plan.of(generation), by_words=True)
        other.__dict__["_client"] = self._client
        return noted(other, OpenSearchIndex.disconnect)

    def put(self, documents: Sequence[IndexDocument], *, shown: bool = True) -> list[IndexFailure]:
        """Raises Unavailable, with some written; the same call again completes it.

        Nobody waits for the engine's own refresh, up to a second away: one request asks for it in the same breath,
        several ask for one at the end.
        """
        batches = list(_batches(documents))
        if len(batches) == 1:
            return self._put(batches[0], "true" if shown else "false")
        with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
            work = [pool.submit(copy_context().run, self._put, batch, "false") for batch in batches]
        sent = [one.result() for one in work]
        if shown:
            with translated_errors():
                self._client.indices.refresh(index=self._plan.alias)
        return [failure for failures in sent for failure in failures]

    def _put(self, documents: Sequence[IndexDocument], refresh: str) -> list[IndexFailure]:
        lines = [line for document in documents for line in self._write_lines(document)]
        items = self._bulk(lines, refresh)
        ids = [document.ref.id for document in documents]
        return [failure for failure in map(_failure, ids, items) if failure is not None]

    def _write_lines(self, document: IndexDocument) -> tuple[dict[str, Any], dict[str, Any]]:
        scope = scope_of(document)
        target = _target(scope, document.ref.id, document.version)
        if not self._by_words:
            return {"index": target}, source_of(document)
        return {"index": {**target, "version_type": "external"}}, source_of(replace(document, vector=None))

    def remove(self, scope: Scope, event_ids: Sequence[str], *, shown: bool = True) -> list[IndexFailure]:
        failures: list[IndexFailure] = []
        for batch in _batches(event_ids):
            failures += self._remove(scope, batch, "true" if shown else "false")
        return failures

    def _remove(self, scope: Scope, event_ids: Sequence[str], refresh: str) -> list[IndexFailure]:
        left = list(event_ids)
        failures: list[IndexFailure] = []
        for _ in range(REMOVAL_ATTEMPTS):
            versions = self._versions(scope, left)
            if not versions:
                return failures
            left = []
            lines = [{"delete": _target(scope, event_id, version)} for event_id, version in versions.items()]
            for event_id, item in zip(versions, self._bulk(lines, refresh), strict=True):
                if item["status"] == 409:
                    left.append(event_id)
                elif (failure := _failure(event_id, item)) is not None:
                    failures.append(failure)
        return failures + [IndexFailure(event_id, "version_conflict", retryable=True) for event_id in left]

    def _versions(self, scope: Scope, event_ids: Sequence[str]) -> dict[str, int]:
        if not event_ids:
            return {}
        asked = [{"_id": document_id(scope, event_id), "routing": owner_of(scope)} for event_id in event_ids]
        with translated_errors():
            answer = self._client.mget(body={"docs": asked}, index=self._plan.alias, params={"_source": "false"})
        for found in answer["docs"]:
            if "error" in found:
                missing = found["error"].get("type") == "index_not_found_exception"
                raise failure_of(404 if missing else 503, found["error"].get("type", ""))
        pairs = zip(event_ids, answer["docs"], strict=True)
        return {event_id: found["_version"] for event_id, found in pairs if found["found"]}

    def _bulk(self, lines: Sequence[Mapping[str, Any]], refresh: str) -> list[Mapping[str, Any]]:
        """One outcome for each operation, in order; with `refresh` "true" searches show them all at its return."""
        if is_dry():
            raise NotReady("a dry run writes no documents")
        params = {"refresh": refresh, "require_alias": "true", "filter_path": "items.*.status,items.*.error.type"}
        with translated_errors():
            answer = self._client.bulk(body=lines, index=self._plan.alias, params=params)
        return [outcome for item in answer["items"] for outcome in item.values()]

    def nominate(self, scope: Scope, request: NominationRequest) -> Nominations:
        """Raises NotReady without the index, Throttled, Unavailable."""
        query = NominationQuery.of(scope, request, self.holds_vectors(scope.tenant))
        searches = query.searches()
        lines = [line for body in searches.values() for line in ({"routing": owner_of(scope)}, body)]
        with translated_errors():
            answer = self._client.msearch(body=lines, index=self._plan.alias, params={"filter_path": _ANSWERED})
        answers = dict(zip(searches, answer["responses"], strict=True))
        for found in answers.values():
            _require_whole(found)
        return nominations_of(query, answers)

    def count(self, owner: Scope, most: int | None = None) -> IndexCount:  # noqa: ARG002 - counting all is as fast
        """What searches show of a user or of a whole tenant."""
        embedded = {"exists": {"field": "vector"}} if self._plan.has_vectors else {"match_none": {}}
        body = {"size": 0, "track_total_hits": True, "aggs": {"embedded": {"filter": embedded}}}
        answer = self._search(owner, body)
        return IndexCount(answer["hits"]["total"]["value"], answer["aggregations"]["embedded"]["doc_count"])

    def listed(self, scope: Scope, limit: int, after: str | None) -> IndexedPage:
        """By id, in the order of the engine's keywords: bytes of UTF-8."""
        body: dict[str, Any] = {
            "size": limit + 1,
            "track_total_hits": False,
            "_source": ["event_id", "timestamp"],
            "sort": [{"event_id": "asc"}],
            **({} if after is None else {"search_after": [after]}),
        }
        sources = [hit["_source"] for hit in self._search(scope, body)["hits"]["hits"]]
        refs = tuple(EventRef(one["event_id"], from_microseconds(one["timestamp"])) for one in sources[:limit])
        return IndexedPage(refs, refs[-1].id if len(sources) > limit else None)

    def _search(self, owner: Scope, body: dict[str, Any]) -> dict[str, Any]:
        owned = {"query": {"bool": {"filter": [_owned(owner)]}}}
        routing = {} if owner == of_tenant(owner.tenant) else {"routing": owner_of(owner)}
        with translated_errors():
            found: dict[str, Any] = self._client.search(index=self._plan.alias, body=body | owned, params=routing)
        return found

    def drop(self, tenant: str, limit: int, *, whole: bool = False) -> int:
        """The index itself goes where `whole` is asked for and it is empty."""
        with translated_errors():
            if not self._client.indices.exists_alias(name=self._plan.alias):
                return 0
            answer = self._client.delete_by_query(
                index=self._plan.alias,
                body={"query": _owned(of_tenant(tenant)), "max_docs": limit},
                params={"conflicts": "proceed", "refresh": "true", "request_timeout": DROP_TIMEOUT_SECONDS},
            )
            deleted = int(answer["deleted"])
            if not deleted and whole and self._client.count(index=self._plan.alias)["count"] == 0:
                self._delete_index()
        return deleted

    def _delete_index(self) -> None:
        """By its own name: an alias cannot be deleted as an index is."""
        for name in self._client.indices.get_alias(name=self._plan.alias):
            self._client.indices.delete(index=name, params={"request_timeout": DROP_TIMEOUT_SECONDS})

    def pack(self, remaining_seconds: Callable[[], float]) -> int:  # noqa: ARG002 - the engine merges its segments
        return 0

    def identity(self) -> str:
        """The engine's own ids of the index behind the alias; a new index has another."""
        with translated_errors():
            found = self._client.indices.get_settings(index=self._plan.alias, name="index.uuid")
        return ",".join(sorted(index["settings"]["index"]["uuid"] for index in found.values()))

    def owns(self, identity: str) -> bool:
        return all(len(one) >= _UUID_CHARACTERS for one in identity.split(","))

    def check(self) -> str:
        with translated_errors():
            version = self._client.info()["version"]
            plugins = self._client.cat.plugins(params={"format": "json", "h": "component"})
            found = self._client.indices.get(index=self._plan.alias)
        _require_engine(version, [plugin["component"] for plugin in plugins])
        for name, index in found.items():
            self._require_mapping(name, index["mappings"])
            _require_writable(index.get("settings", {}).get("index", {}).get("blocks", {}))
        return f"OpenSearch {version['number']}, index {', '.join(found)}"

    def _require_mapping(self, name: str, mappings: Mapping[str, Any]) -> None:
        dimension = mappings["properties"].get("vector", {}).get("dimension", 0)
        wanted = self._plan.dimension if self._plan.has_vectors else 0
        if mappings.get("_meta", {}).get("format") != mapping_format() or dimension != wanted:
            raise NotReady(f"index {name} was made by another release or for vectors of {dimension} numbers")

    def create(self) -> bool:
        """Idempotent, also for two callers at once."""
        with translated_errors():
            if self._client.indices.exists_alias(name=self._plan.alias):
                return False
            return self._create_index() or self._name_index()

    def _create_index(self) -> bool:
        from opensearchpy.exceptions import RequestError

        try:
            self._client.indices.create(
                index=self._plan.index, body=self._plan.body(), params={"request_timeout": SET_UP_TIMEOUT_SECONDS}
            )
        except RequestError as error:
            if error.error != "resource_already_exists_exception":
                raise
            return False
        return True

    def _name_index(self) -> bool:
        """Gives the alias to an index that lost it; False where another has just created both."""
        if self._client.indices.exists_alias(name=self._plan.alias):
            return False
        self._client.indices.put_alias(index=self._plan.index, name=self._plan.alias)
        return True


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + DOCUMENTS_A_REQUEST] for start in range(0, len(items), DOCUMENTS_A_REQUEST))


def _target(scope: Scope, event_id: str, version: int) -> dict[str, Any]:
    return {
        "_id": document_id(scope, event_id),
        "routing": owner_of(scope),
        "version": version,
        "version_type": "external_gte",
    }


def _failure(event_id: str, outcome: Mapping[str, Any]) -> IndexFailure | None:
    """None where the operation was done or its version is outdated (409); the reason is the error's type, not its text.

    Raises NotReady without the index and WritesBlocked where it takes no writes: both hold for every document.
    """
    status, kind = outcome["status"], outcome.get("error", {}).get("type")
    if kind is None or status == 409:
        return None
    if status == 404 or is_block(status, kind):
        raise failure_of(status, kind)
    return IndexFailure(event_id, kind, retryable=status == 429 or status >= 500)


def _require_whole(answer: Mapping[str, Any]) -> None:
    """An answer in part would give wrong statistics: without one the timeline answers."""
    if "error" in answer:
        raise failure_of(answer["status"], answer["error"].get("type", ""))
    if answer["timed_out"] or answer["_shards"]["failed"]:
        raise Unavailable("OpenSearch answered in part only")


def _require_writable(blocks: Mapping[str, str]) -> None:
    if any(blocks.get(name) == "true" for name in _WRITE_BLOCKS):
        raise WritesBlocked(WRITES_BLOCKED)


def _require_engine(version: Mapping[str, Any], plugins: Sequence[str]) -> None:
    number = tuple(int(part) for part in version["number"].split(".")[:2])
    if version.get("distribution") != "opensearch" or number < OLDEST_ENGINE:
        raise NotReady(f"OpenSearch 2.19 or newer is needed, this is {version['number']}")
    if not any("knn" in plugin.lower() for plugin in plugins):
        raise NotReady("OpenSearch lacks its k-NN plugin")


def _owned(owner: Scope) -> dict[str, Any]:
    if owner == of_tenant(owner.tenant):
        return {"term": {"tenant": {"value": owner.tenant}}}
    return {"term": {"owner": {"value": owner_of(owner)}}}
