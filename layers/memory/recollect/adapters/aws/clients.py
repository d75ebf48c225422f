"""The AWS SDK: its clients with short time-outs and few tries, and its errors as the errors of Recollect.

Errors are decided by code and class, never by the text of a message. `Backoff` paces the tries of what was throttled
or conflicted; `listen` reports what each call cost.
"""

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ChecksumError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from botocore.exceptions import ConnectionError as ConnectionFailed
from botocore.parsers import ResponseParserError

from recollect.adapters.aws.dry_run import withhold_dry_writes
from recollect.adapters.connections import noted
from recollect.core.errors import (
    ConfigurationError,
    CutAnswer,
    NotReady,
    OutOfTime,
    RecollectError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    VersionMismatch,
)

CONDITION_FAILED = "ConditionalCheckFailedException"
CANCELLED_BY_CONDITION = "ConditionalCheckFailed"
"""Among the cancellation codes of a transaction, for the operation whose condition failed."""
THROTTLED = frozenset((
    "BandwidthLimitExceeded", "LimitExceededException", "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException", "RequestLimitExceeded", "RequestThrottled", "RequestThrottledException",
    "SlowDown", "ThrottledException", "Throttling", "ThrottlingError", "ThrottlingException",
    "TooManyRequestsException", "TransactionConflict", "TransactionConflictException", "TransactionInProgressException",
))  # fmt: skip
_UNAVAILABLE = (
    "InternalError", "InternalException", "InternalFailure", "InternalServerError", "PriorRequestNotComplete",
    "ReplicatedWriteConflictException", "RequestTimeout", "RequestTimeoutException", "ServiceUnavailable",
    "ServiceUnavailableException",
)  # fmt: skip
_NOT_READY = (
    "AccessDenied", "AccessDeniedException", "ExpiredToken", "ExpiredTokenException", "IncompleteSignature",
    "InvalidAccessKeyId", "InvalidClientTokenId", "InvalidSignatureException", "MissingAuthenticationToken",
    "NotAuthorized", "OptInRequired", "ResourceInUseException", "ResourceNotFoundException", "SignatureDoesNotMatch",
    "TableInUseException", "TableNotFoundException", "UnrecognizedClientException",
)  # fmt: skip
_KINDS: Mapping[str, type[RecollectError]] = MappingProxyType(
    {
        **dict.fromkeys(THROTTLED, Throttled),
        **dict.fromkeys(_UNAVAILABLE, Unavailable),
        **dict.fromkeys(_NOT_READY, NotReady),
        CONDITION_FAILED: VersionMismatch,
    }
)
_BEDROCK_THROTTLED = frozenset(
    {"ThrottlingException", "TooManyRequestsException", "ServiceUnavailableException", "ModelNotReadyException"}
)
_BEDROCK_KINDS: Mapping[str, type[RecollectError]] = MappingProxyType(
    {"ModelTimeoutException": OutOfTime, "ModelErrorException": Unavailable, "InternalServerException": Unavailable}
)
_PASSING = (ConnectionFailed, HTTPClientError, IncompleteReadError, ChecksumError)
_SETTINGS: Mapping[type[BotoCoreError], str] = MappingProxyType(
    {
        NoCredentialsError: "AWS_ACCESS_KEY_ID",
        PartialCredentialsError: "AWS_SECRET_ACCESS_KEY",
        NoRegionError: "AWS_REGION",
    }
)


@contextmanager
def translated(service: str) -> Iterator[None]:
    """Turns what the SDK raises within into a RecollectError that names `service`."""
    try:
        yield
    except ClientError as error:
        raise from_client_error(service, error) from error
    except BotoCoreError as error:
        raise from_core_error(service, error) from error


@contextmanager
def bedrock_translated() -> Iterator[None]:
    """Turns what the SDK raises of Bedrock's runtime within into Throttled, Unavailable, OutOfTime, CutAnswer or
    UpstreamFailed, without the foreign error as its cause: that may quote texts.

    An unknown code: Unavailable with a 5xx status, else UpstreamFailed, such as a model without access.
    """
    try:
        yield
    except ClientError as error:
        raise _bedrock_refusal(error) from None
    except (BotoCoreError, ResponseParserError) as error:
        raise _bedrock_failure(error) from None


def from_client_error(service: str, error: ClientError) -> RecollectError:
    """The error of a service's answer. An unknown code: Unavailable with a 5xx status, else UpstreamFailed."""
    code = code_of(error)
    if code == "TransactionCanceledException":
        return _of_cancellation(service, error)
    kind = _KINDS.get(code) or (Unavailable if _status_of(error) >= 500 else UpstreamFailed)
    return kind(f"{service}: {code}")


def from_core_error(service: str, error: BotoCoreError) -> RecollectError:
    """The error of a request that was not sent or not answered: missing settings, or a failed connection."""
    variable = _SETTINGS.get(type(error))
    if variable is not None:
        return ConfigurationError(variable, f"needed to reach {service}")
    kind = Unavailable if isinstance(error, _PASSING) else UpstreamFailed
    kind = NotReady if isinstance(error, CredentialRetrievalError) else kind
    return kind(f"{service}: {type(error).__name__}")


@contextmanager
def ignored(*codes: str) -> Iterator[None]:
    """Ends what is inside where a service answers with one of these error codes."""
    try:
        yield
    except ClientError as error:
        if code_of(error) not in codes:
            raise


def code_of(error: ClientError) -> str:
    """The error code of a service's answer."""
    return str(_part(error, "Error").get("Code", ""))


def cancellation_codes(error: ClientError) -> list[str]:
    """Why a transaction was cancelled: one code for each of its operations, `None` where it was not at fault."""
    reasons: list[Mapping[str, Any]] = error.response.get("CancellationReasons") or []
    return [str(reason.get("Code", "None")) for reason in reasons]


def _of_cancellation(service: str, error: ClientError) -> RecollectError:
    codes = [code for code in cancellation_codes(error) if code != "None"]
    kinds = {_KINDS.get(code, UpstreamFailed) for code in codes}
    retryable = bool(kinds) and kinds <= {Throttled}
    named = ", ".join(sorted(set(codes)))
    return Throttled(f"{service}: {named}") if retryable else UpstreamFailed(f"{service}: cancelled, {named}")


def _bedrock_refusal(error: ClientError) -> RecollectError:
    from recollect.adapters.http_connection import retry_after_seconds  # functions without a model start without it

    code, status = code_of(error) or "unknown", _status_of(error)
    if code in _BEDROCK_THROTTLED or status in (429, 503):
        wait = retry_after_seconds(_part(error, "ResponseMetadata").get("HTTPHeaders", {}).get("retry-after"))
        return Throttled(f"Bedrock asks to slow down ({code})", wait)
    fallback = Unavailable if status >= 500 else UpstreamFailed
    return _BEDROCK_KINDS.get(code, fallback)(f"Bedrock refused ({code})")


def _bedrock_failure(error: Exception) -> RecollectError:
    name = type(error).__name__
    if isinstance(error, ReadTimeoutError | ConnectTimeoutError):
        return OutOfTime(f"Bedrock did not answer in time ({name})")
    if isinstance(error, EndpointConnectionError | ConnectionClosedError):
        return Unavailable(f"Bedrock cannot be reached ({name})")
    if isinstance(error, HTTPClientError | ResponseStreamingError):
        return CutAnswer(f"Bedrock broke off its answer ({name})")
    return UpstreamFailed(f"Bedrock cannot be used ({name})")


def _status_of(error: ClientError) -> int:
    return int(_part(error, "ResponseMetadata").get("HTTPStatusCode", 0))


def _part(error: ClientError, name: str) -> Mapping[str, Any]:
    part: Mapping[str, Any] = error.response.get(name) or {}
    return part


Answer = dict[str, Any]
Listener = Callable[[str, Mapping[str, Any]], None]

_REPORTS_CAPACITY = (
    "BatchGetItem", "BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "TransactWriteItems", "UpdateItem",
)  # fmt: skip


Service = TypeVar("Service")


class DynamoDBClient(Protocol):
    """The methods of boto3's low-level DynamoDB client that are called; boto3 has no types."""

    def batch_get_item(self, **request: Any) -> Answer: ...
    def batch_write_item(self, **request: Any) -> Answer: ...
    def create_table(self, **request: Any) -> Answer: ...
    def delete_item(self, **request: Any) -> Answer: ...
    def describe_table(self, **request: Any) -> Answer: ...
    def describe_time_to_live(self, **request: Any) -> Answer: ...
    def get_item(self, **request: Any) -> Answer: ...
    def put_item(self, **request: Any) -> Answer: ...
    def query(self, **request: Any) -> Answer: ...
    def transact_write_items(self, **request: Any) -> Answer: ...
    def update_item(self, **request: Any) -> Answer: ...
    def update_table(self, **request: Any) -> Answer: ...
    def update_time_to_live(self, **request: Any) -> Answer: ...


class StreamsClient(Protocol):
    """The methods of boto3's client of DynamoDB streams that are called."""

    def describe_stream(self, **request: Any) -> Answer: ...
    def get_shard_iterator(self, **request: Any) -> Answer: ...
    def get_records(self, **request: Any) -> Answer: ...


class EventBridgeClient(Protocol):
    """The method of boto3's EventBridge client that is called."""

    def put_events(self, **request: Any) -> Answer: ...


@dataclass(frozen=True, slots=True)
class ClientPolicy:
    """When a client gives up. No try lasts longer than `connect_seconds` + `read_seconds`; `tries` counts the first."""

    connect_seconds: float = 0.5
    read_seconds: float = 1.5
    tries: int = 3
    connections: int = 32

    @property
    def config(self) -> Config:
        """The SDK's form. The service checks requests; the SDK's own check is a sixth of a batch's time."""
        return Config(
            parameter_validation=False,
            connect_timeout=self.connect_seconds,
            read_timeout=self.read_seconds,
            retries={"mode": "standard", "total_max_attempts": self.tries},
            max_pool_connections=self.connections,
            tcp_keepalive=True,
        )


DEFAULT_POLICY = ClientPolicy()


def of_ours(client: Service) -> Service:
    """The SDK's client, which a dry run does not write by, and which is disconnected before its process is copied."""
    withhold_dry_writes(client)
    return noted(client, lambda known: known.close())  # type: ignore[attr-defined] # of every client of the SDK


def dynamodb_client(policy: ClientPolicy = DEFAULT_POLICY) -> DynamoDBClient:
    """A client of DynamoDB; region, credentials and endpoint come from the SDK's own settings."""
    client: DynamoDBClient = boto3.Session().client("dynamodb", config=policy.config)
    return of_ours(client)


def streams_client(policy: ClientPolicy = DEFAULT_POLICY) -> StreamsClient:
    """A client of DynamoDB's streams; where only DynamoDB's own endpoint is set (DynamoDB Local), that one serves."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_DYNAMODB_STREAMS") or os.environ.get("AWS_ENDPOINT_URL_DYNAMODB")
    client: StreamsClient = boto3.Session().client("dynamodbstreams", endpoint_url=endpoint, config=policy.config)
    return client


def eventbridge_client(policy: ClientPolicy = DEFAULT_POLICY) -> EventBridgeClient:
    """A client of EventBridge."""
    client: EventBridgeClient = boto3.Session().client("events", config=policy.config)
    return of_ours(client)


def read_parameter(name: str, timeout_seconds: float) -> str:
    """The decrypted value of a parameter in SSM's parameter store.

    Raises UpstreamFailed where there is none of that name; NotReady, Unavailable, Throttled.
    """
    policy = ClientPolicy(connect_seconds=timeout_seconds, read_seconds=timeout_seconds)
    with translated("SSM"):
        answer = boto3.client("ssm", config=policy.config).get_parameter(Name=name, WithDecryption=True)
    return str(answer["Parameter"]["Value"])


def listen(client: Any, listener: Listener) -> None:
    """Calls `listener` after every call with the operation's name and the answer, capacity by index included.

    For benches and tests; once a call, however often the SDK tried (`ResponseMetadata.RetryAttempts`).
    """

    def ask(params: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name in _REPORTS_CAPACITY:
            params["ReturnConsumedCapacity"] = "INDEXES"

    def report(parsed: Mapping[str, Any], model: Any, **_: Any) -> None:
        listener(model.name, parsed)

    client.meta.events.register("provide-client-params.dynamodb", ask)
    client.meta.events.register("after-call", report)


@dataclass(frozen=True, slots=True)
class Backoff:
    """`tries` in all; before each but the first a random part of a pause that doubles from `base` to `cap` seconds."""

    tries: int = 8
    base_seconds: float = 0.02
    cap_seconds: float = 0.32
    sleep: Callable[[float], object] = time.sleep

    def attempts(self) -> Iterator[int]:
        """Counts the tries from 0 and sleeps between them."""
        for attempt in range(self.tries):
            if attempt:
                self.sleep(self._pause(attempt))
            yield attempt

    def _pause(self, attempt: int) -> float:
        longest = min(self.cap_seconds, self.base_seconds * 2 ** (attempt - 1))
        return random.uniform(longest / 4, longest)  # noqa: S311 - spreads tries, guards nothing


DEFAULT_BACKOFF = Backoff()
