"""Values of SSM's parameter store, read when a process starts."""

from typing import Any

from recollect.adapters.aws.errors import translated


def read_parameter(name: str, timeout_seconds: float) -> str:
    """The value of a parameter, decrypted; UpstreamFailed is raised where there is none of that name.

    Raises NotReady, Unavailable and Throttled too.
    """
    with translated("SSM"):
        answer = _client(timeout_seconds).get_parameter(Name=name, WithDecryption=True)
    return str(answer["Parameter"]["Value"])


def _client(timeout_seconds: float) -> Any:
    import boto3
    from botocore.config import Config

    config = Config(
        connect_timeout=timeout_seconds,
        read_timeout=timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": 3},
    )
    return boto3.client("ssm", config=config)
