"""What the AWS SDK raises, as the errors of the domain: decided by code and class, never by a message's text."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ChecksumError,
    ClientError,
    CredentialRetrievalError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
)
from botocore.exceptions import ConnectionError as ConnectionFailed

from recollect.core.errors import (
    ConfigurationError,
    NotReady,
    RecollectError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    VersionMismatch,
)

CONDITION_FAILED = "ConditionalCheckFailedException"
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
    """Turns what the SDK raises within into an error of the domain; `service` is named in its sentence."""
    try:
        yield
    except ClientError as error:
        raise from_client_error(service, error) from error
    except BotoCoreError as error:
        raise from_core_error(service, error) from error


def from_client_error(service: str, error: ClientError) -> RecollectError:
    """What the service answered. A code that is not known: Unavailable with a 5xx status, else UpstreamFailed."""
    code = code_of(error)
    if code == "TransactionCanceledException":
        return _of_cancellation(service, error)
    kind = _KINDS.get(code) or (Unavailable if _status_of(error) >= 500 else UpstreamFailed)
    return kind(f"{service}: {code}")


def from_core_error(service: str, error: BotoCoreError) -> RecollectError:
    """What the SDK could not send: settings that are missing, or a connection that failed."""
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


def _status_of(error: ClientError) -> int:
    return int(_part(error, "ResponseMetadata").get("HTTPStatusCode", 0))


def _part(error: ClientError, name: str) -> Mapping[str, Any]:
    part: Mapping[str, Any] = error.response.get(name) or {}
    return part
