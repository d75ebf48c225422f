"""The errors of the AWS SDK as Recollect's own: decided by code and class, never by a message's text."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

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
THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "LimitExceededException",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingError",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflict",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_UNAVAILABLE = frozenset(
    {
        "InternalError",
        "InternalException",
        "InternalFailure",
        "InternalServerError",
        "PriorRequestNotComplete",
        "ReplicatedWriteConflictException",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    }
)
_NOT_READY = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "MissingAuthenticationToken",
        "NotAuthorized",
        "OptInRequired",
        "ResourceInUseException",
        "ResourceNotFoundException",
        "SignatureDoesNotMatch",
        "TableInUseException",
        "TableNotFoundException",
        "UnrecognizedClientException",
    }
)
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
    {
        "ModelTimeoutException": OutOfTime,
        "ModelErrorException": Unavailable,
        "InternalServerException": Unavailable,
    }
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
