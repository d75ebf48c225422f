"""Every error of the SDK that we know, and some that nobody does, in the terms of the domain."""

import botocore.exceptions as sdk
import pytest
from botocore.exceptions import ClientError

from recollect.adapters.aws.clients import translated
from recollect.core.errors import (
    ConfigurationError,
    NotReady,
    RecollectError,
    Throttled,
    Unavailable,
    UpstreamFailed,
    VersionMismatch,
)

CODES: dict[type[RecollectError], list[str]] = {
    Throttled: [
        "LimitExceededException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "SlowDown",
        "ThrottledException", "Throttling", "ThrottlingException", "TooManyRequestsException",
        "TransactionConflictException", "TransactionInProgressException",
    ],
    Unavailable: [
        "InternalException", "InternalFailure", "InternalServerError", "RequestTimeout", "RequestTimeoutException",
        "ServiceUnavailable", "ServiceUnavailableException",
    ],
    NotReady: [
        "AccessDeniedException", "ExpiredTokenException", "InvalidSignatureException", "MissingAuthenticationToken",
        "ResourceInUseException", "ResourceNotFoundException", "UnrecognizedClientException",
    ],
    VersionMismatch: ["ConditionalCheckFailedException"],
    UpstreamFailed: [
        "IdempotentParameterMismatchException", "SerializationException", "ValidationException", "New", "",
    ],
}  # fmt: skip
CONNECTION = {
    sdk.EndpointConnectionError(endpoint_url="http://x"): Unavailable,
    sdk.ConnectTimeoutError(endpoint_url="http://x"): Unavailable,
    sdk.ReadTimeoutError(endpoint_url="http://x"): Unavailable,
    sdk.ConnectionClosedError(endpoint_url="http://x"): Unavailable,
    sdk.HTTPClientError(error="x"): Unavailable,
    sdk.SSLError(endpoint_url="http://x", error="x"): Unavailable,
    sdk.IncompleteReadError(actual_bytes=1, expected_bytes=2): Unavailable,
    sdk.CredentialRetrievalError(provider="x", error_msg="x"): NotReady,
    sdk.NoCredentialsError(): ConfigurationError,
    sdk.PartialCredentialsError(provider="x", cred_var="x"): ConfigurationError,
    sdk.NoRegionError(): ConfigurationError,
    sdk.ParamValidationError(report="x"): UpstreamFailed,
}
SECRET = "what the user said"


def a_client_error(code: str, status: int = 400, reasons: list[str] | None = None) -> ClientError:
    answer = {"Error": {"Code": code, "Message": SECRET}, "ResponseMetadata": {"HTTPStatusCode": status}}
    if reasons is not None:
        answer["CancellationReasons"] = [{"Code": reason} for reason in reasons]
    return ClientError(answer, "Call")


@pytest.mark.parametrize(("kind", "code"), [(kind, code) for kind, codes in CODES.items() for code in codes])
def test_a_code_has_one_kind(kind: type[RecollectError], code: str) -> None:
    with pytest.raises(RecollectError) as raised, translated("DynamoDB"):
        raise a_client_error(code)
    assert type(raised.value) is kind
    assert isinstance(raised.value.__cause__, ClientError)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("status", [500, 503])
def test_an_unknown_code_of_the_services_own_fault_may_pass(status: int) -> None:
    with pytest.raises(Unavailable), translated("DynamoDB"):
        raise a_client_error("Brand New", status)


@pytest.mark.parametrize(
    ("error", "kind"), CONNECTION.items(), ids=lambda one: getattr(one, "__name__", type(one).__name__)
)
def test_what_could_not_be_sent_has_one_kind(error: Exception, kind: type[RecollectError]) -> None:
    with pytest.raises(RecollectError) as raised, translated("DynamoDB"):
        raise error
    assert type(raised.value) is kind


@pytest.mark.parametrize(
    ("reasons", "kind"),
    [
        (["None", "TransactionConflict"], Throttled),
        (["ThrottlingError", "ProvisionedThroughputExceeded"], Throttled),
        (["ConditionalCheckFailed", "TransactionConflict"], UpstreamFailed),
        (["ValidationError"], UpstreamFailed),
        ([], UpstreamFailed),
    ],
)
def test_a_transaction_cancelled_by_haste_alone_may_pass(reasons: list[str], kind: type[RecollectError]) -> None:
    with pytest.raises(RecollectError) as raised, translated("DynamoDB"):
        raise a_client_error("TransactionCanceledException", reasons=reasons)
    assert type(raised.value) is kind


def test_our_own_errors_pass_through() -> None:
    with pytest.raises(Throttled, match="mine"), translated("DynamoDB"):
        raise Throttled("mine")
