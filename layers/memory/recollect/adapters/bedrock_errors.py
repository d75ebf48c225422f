"""What the AWS SDK raises of Bedrock's runtime, as errors of the domain: by code and class, never by a text."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ReadTimeoutError,
    ResponseStreamingError,
)
from botocore.parsers import ResponseParserError

from recollect.adapters.http_connection import retry_after_seconds
from recollect.core.errors import CutAnswer, OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed

_THROTTLED = frozenset(
    {"ThrottlingException", "TooManyRequestsException", "ServiceUnavailableException", "ModelNotReadyException"}
)
_KINDS: Mapping[str, type[RecollectError]] = MappingProxyType(
    {
        "ModelTimeoutException": OutOfTime,
        "ModelErrorException": Unavailable,
        "InternalServerException": Unavailable,
    }
)


@contextmanager
def translated() -> Iterator[None]:
    """Raises Throttled, Unavailable, OutOfTime, CutAnswer or UpstreamFailed; the foreign error is not shown.

    What is not known: Unavailable with a 5xx status, else UpstreamFailed, such as a model one has no access to.
    """
    try:
        yield
    except ClientError as error:
        raise _refusal(error) from None
    except (BotoCoreError, ResponseParserError) as error:
        raise _failure(error) from None


def _refusal(error: ClientError) -> RecollectError:
    code = str(error.response.get("Error", {}).get("Code", "unknown"))
    told = error.response.get("ResponseMetadata", {})
    if code in _THROTTLED or told.get("HTTPStatusCode") in (429, 503):
        wait = retry_after_seconds(told.get("HTTPHeaders", {}).get("retry-after"))
        return Throttled(f"Bedrock asks to slow down ({code})", wait)
    fallback = Unavailable if told.get("HTTPStatusCode", 0) >= 500 else UpstreamFailed
    return _KINDS.get(code, fallback)(f"Bedrock refused ({code})")


def _failure(error: Exception) -> RecollectError:
    name = type(error).__name__
    if isinstance(error, ReadTimeoutError | ConnectTimeoutError):
        return OutOfTime(f"Bedrock did not answer in time ({name})")
    if isinstance(error, EndpointConnectionError | ConnectionClosedError):
        return Unavailable(f"Bedrock cannot be reached ({name})")
    if isinstance(error, HTTPClientError | ResponseStreamingError):
        return CutAnswer(f"Bedrock broke off its answer ({name})")
    return UpstreamFailed(f"Bedrock cannot be used ({name})")
