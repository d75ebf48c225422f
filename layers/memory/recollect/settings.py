"""Settings: read once from the environment into a frozen object.

An invalid one fails at start and names the variable.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recollect.core.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller: the tenant of the credentials, whether they administer it, and the one user whom they represent."""

    tenant: str
    admin: bool = False
    subject: str | None = None
    limited_to_subject: bool = False


def _variable(name: str, default: str, meaning: str, parse: Callable[[str], Any]) -> Any:
    return field(metadata={"variable": name, "default": default, "meaning": meaning, "parse": parse})


def _one_of(*names: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError(f"must be one of {', '.join(names)}")
        return text

    return parse


def _in_order(*names: str) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        given = tuple(name.strip() for name in text.split(","))
        if not set(given) <= set(names) or len(set(given)) < len(given):
            raise ValueError(f"must be one or more of {', '.join(names)}, each once, with commas between")
        return given

    return parse


def _header_value(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must be of printable ASCII characters")
    return text


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("must be 0 or 1")
    return text == "1"


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise ValueError("must be a whole number of 1 or more")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 900:
        raise ValueError("must be a number of seconds, more than 0 and at most 900")
    return number


def _url(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise ValueError("must be an address that begins with http:// or https://")
    return text.rstrip("/")


def _folder(text: str) -> Path:
    return Path(text).expanduser()


def _optional_file(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


def _api_keys(text: str) -> Mapping[str, Principal]:
    given = json.loads(text) if text else {}
    if not isinstance(given, dict) or not all(_is_key(key, value) for key, value in given.items()):
        raise ValueError('must be JSON such as {"key-a": {"tenant": "acme", "admin": true}}')
    return {key: Principal(value["tenant"], value.get("admin", False)) for key, value in given.items()}


def _is_key(key: str, value: object) -> bool:
    return (
        bool(key)
        and isinstance(value, dict)
        and set(value) <= {"tenant", "admin"}
        and isinstance(value.get("tenant"), str)
        and 1 <= len(value["tenant"]) <= 128
        and isinstance(value.get("admin", False), bool)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, with its variable, default and meaning; docs/settings.md and template.yaml list the same."""

    home: Path = _variable("RECOLLECT_HOME", "~/.local/share/recollect", "Folder of all data on a laptop.", _folder)
    engines: str = _variable(
        "RECOLLECT_ENGINES", "local", "`local` (SQLite) or `aws` (DynamoDB, OpenSearch, S3).", _one_of("local", "aws")
    )
    rules: Path | None = _variable(
        "RECOLLECT_RULES", "", "JSON file of rules, merged over the defaults ([rules.md](rules.md)).", _optional_file
    )
    rules_parameter: str = _variable(
        "RECOLLECT_RULES_PARAMETER", "", "SSM parameter with the same JSON; only one of the two may be set.", str
    )
    api_keys: Mapping[str, Principal] = _variable(
        "RECOLLECT_API_KEYS",
        "",
        'Keys of the laptop\'s server: `{"key-a": {"tenant": "acme", "admin": true}}`. Once set, a key is required.',
        _api_keys,
    )
    test_clock: bool = _variable(
        "RECOLLECT_TEST_CLOCK",
        "0",
        "`1` lets `X-Recollect-Now` set the clock of a request. Never in production.",
        _flag,
    )
    projector: str = _variable(
        "RECOLLECT_PROJECTOR",
        "on",
        "`off` stops the projector of `recollect serve`; `recollect import` never waits for it then.",
        _one_of("on", "off"),
    )
    embedder: str = _variable(
        "RECOLLECT_EMBEDDER",
        "e5",
        "`e5` (in process, a hundred languages), `openai`, `bedrock`, `hashing` (tests), `none` "
        "([models.md](models.md)).",
        _one_of("e5", "openai", "bedrock", "hashing", "none"),
    )
    embedding_dimension: int = _variable(
        "RECOLLECT_EMBEDDING_DIMENSION",
        "384",
        "Length of the vectors of an OpenAI-compatible or a Bedrock model.",
        _positive,
    )
    model_folder: str = _variable(
        "RECOLLECT_MODEL_FOLDER",
        "",
        "Folder of the embedding model; empty: the Lambda layer's, or the user's cache (`recollect init`).",
        str,
    )
    openai_base_url: str = _variable(
        "RECOLLECT_OPENAI_BASE_URL", "", "An OpenAI-compatible server, up to and with `/v1`.", _url
    )
    openai_api_key: str = _variable("RECOLLECT_OPENAI_API_KEY", "", "Its key, where it wants one.", _header_value)
    openai_embedding_model: str = _variable("RECOLLECT_OPENAI_EMBEDDING_MODEL", "", "Its embedding model.", str)
    model: tuple[str, ...] = _variable(
        "RECOLLECT_MODEL",
        "extractive",
        "Who answers and summarizes: `extractive` (quotes, no model), `openai`, `bedrock`, or several in the order in "
        "which they are tried, such as `openai,extractive` ([models.md](models.md)).",
        _in_order("extractive", "openai", "bedrock"),
    )
    model_timeout_seconds: float = _variable(
        "RECOLLECT_MODEL_TIMEOUT_SECONDS", "30", "How long one attempt with a language model may take.", _seconds
    )
    openai_model: str = _variable(
        "RECOLLECT_OPENAI_MODEL", "", "Language model of the OpenAI-compatible server, such as `llama3.2`.", str
    )
    bedrock_model: str = _variable(
        "RECOLLECT_BEDROCK_MODEL", "", "Language model on Bedrock: id of a model or inference profile, or an ARN.", str
    )
    web_search: str = _variable(
        "RECOLLECT_WEB_SEARCH",
        "off",
        "`off`, or `duckduckgo`: inputs that ask for current information leave the machine.",
        _one_of("off", "duckduckgo"),
    )
    web_search_url: str = _variable(
        "RECOLLECT_WEB_SEARCH_URL", "https://api.duckduckgo.com", "Asked instead of DuckDuckGo's own address.", _url
    )
    table: str = _variable("RECOLLECT_TABLE", "recollect", "DynamoDB table.", str)
    opensearch_url: str = _variable(
        "RECOLLECT_OPENSEARCH_URL",
        "",
        "OpenSearch endpoint. Calls to a managed domain are signed; `user:password@` is basic authentication.",
        _url,
    )
    index_prefix: str = _variable("RECOLLECT_INDEX_PREFIX", "recollect", "Beginning of the index's name.", str)
    snapshot_bucket: str = _variable("RECOLLECT_SNAPSHOT_BUCKET", "", "S3 bucket of snapshots.", str)
    event_bus: str = _variable(
        "RECOLLECT_EVENT_BUS", "", "EventBridge bus; empty publishes to the readable log only.", str
    )
    tenant_claim: str = _variable("RECOLLECT_TENANT_CLAIM", "tenant", "Claim of the JWT that names the tenant.", str)
    subject_claim: str = _variable(
        "RECOLLECT_SUBJECT_CLAIM", "", "Claim that `user_id` must equal; empty: a token may speak for every user.", str
    )
    admin_scope: str = _variable(
        "RECOLLECT_ADMIN_SCOPE", "recollect/admin", "OAuth scope that makes an administrator.", str
    )
    call_timeout_seconds: float = _variable(
        "RECOLLECT_CALL_TIMEOUT_SECONDS", "2", "How long a call to DynamoDB, OpenSearch or S3 may take.", _seconds
    )
    mcp_user: str = _variable(
        "RECOLLECT_MCP_USER",
        "",
        "User of `recollect mcp`, and on a laptop of `/mcp` without the header `X-Recollect-User`.",
        str,
    )
    log_level: str = _variable(
        "RECOLLECT_LOG_LEVEL",
        "INFO",
        "`DEBUG`, `INFO`, `WARNING` or `ERROR`.",
        _one_of("DEBUG", "INFO", "WARNING", "ERROR"),
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Reads and checks all of them. Raises ConfigurationError, which names the variable."""
        values = {item.name: _read(item.metadata, environment) for item in fields(cls)}
        settings = cls(**values)
        if settings.rules is not None and settings.rules_parameter:
            raise ConfigurationError("RECOLLECT_RULES_PARAMETER", "cannot be set beside RECOLLECT_RULES")
        if settings.engines == "aws" and not settings.opensearch_url:
            raise ConfigurationError("RECOLLECT_OPENSEARCH_URL", "is needed with RECOLLECT_ENGINES=aws")
        if settings.embedder == "openai" and not settings.openai_base_url:
            raise ConfigurationError("RECOLLECT_OPENAI_BASE_URL", "is needed with RECOLLECT_EMBEDDER=openai")
        settings._check_models()
        return settings

    def _check_models(self) -> None:
        """Raises ConfigurationError for a provider without its settings."""
        needed = (
            ("openai", "RECOLLECT_OPENAI_BASE_URL", self.openai_base_url),
            ("openai", "RECOLLECT_OPENAI_MODEL", self.openai_model),
            ("bedrock", "RECOLLECT_BEDROCK_MODEL", self.bedrock_model),
        )
        for provider, variable, value in needed:
            if provider in self.model and not value:
                raise ConfigurationError(variable, f"is needed with {provider} in RECOLLECT_MODEL")


def _read(metadata: Mapping[str, Any], environment: Mapping[str, str]) -> Any:
    text = environment.get(metadata["variable"], "").strip() or metadata["default"]
    try:
        return metadata["parse"](text)
    except ValueError as error:
        meaning = "is no JSON" if isinstance(error, json.JSONDecodeError) else str(error)
        raise ConfigurationError(metadata["variable"], meaning) from None


def variables() -> list[tuple[str, str, str]]:
    """Variable, default and meaning of each setting, in order, for the documentation."""
    return [(f.metadata["variable"], f.metadata["default"], f.metadata["meaning"]) for f in fields(Settings)]
