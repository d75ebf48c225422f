"""Settings: read once from the environment into a frozen object.

An invalid one fails at start and names the variable.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recollect.core.errors import ConfigurationError
from recollect.items.owners import owner_patterns

_SHORTEST_SECRET = 16


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller: the tenant of the credentials, whether they administer it, and the one user whom they represent."""

    tenant: str
    admin: bool = False
    subject: str | None = None
    limited_to_subject: bool = False


@dataclass(frozen=True, slots=True)
class SigningKey:
    """What an access key signs with, and for whom."""

    secret: str = field(repr=False)
    principal: Principal


def _setting(default: str, meaning: str, parse: Callable[[str], Any] = str) -> Any:
    """Its variable is RECOLLECT_ and the field's name."""
    return field(metadata={"default": default, "meaning": meaning, "parse": parse})


def _variable_of(setting: "Field[Any]") -> str:
    return f"RECOLLECT_{setting.name.upper()}"


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


def header_value(text: str) -> str:
    """The text, if it can be sent as an HTTP header's value. Raises ValueError, which does not quote it."""
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


def _megabytes(text: str) -> int:
    if not text.isdecimal() or int(text) > 8192:
        raise ValueError("must be a whole number of megabytes from 0 to 8192")
    return int(text)


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


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


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


def signing_keys(text: str) -> Mapping[str, SigningKey]:
    """The access keys in JSON. Raises ValueError, which quotes nothing of it.

    The sentence is in ASCII: Lambda's runtime client can hand on no other error of a start.
    """
    given = json.loads(text) if text else {}
    if not isinstance(given, dict) or not all(_is_signing_key(name, value) for name, value in given.items()):
        raise ValueError(
            'must be JSON such as {"AKIAEXAMPLE": {"secret": "...", "tenant": "acme"}}, the secret of 16 characters or '
            "more, the name without / , or spaces"
        )
    return {name: _signing_key(dict(value)) for name, value in given.items()}


def _signing_key(value: dict[str, Any]) -> SigningKey:
    return SigningKey(value["secret"], Principal(value["tenant"], value.get("admin", False)))


def _is_signing_key(name: str, value: object) -> bool:
    if not isinstance(value, dict) or not re.fullmatch(r"[^/,\s]{1,128}", name):
        return False
    secret = value.get("secret")
    others = {key: one for key, one in value.items() if key != "secret"}
    return isinstance(secret, str) and len(secret) >= _SHORTEST_SECRET and _is_key(name, others)


def _origins(text: str) -> tuple[str, ...]:
    given = _names(text)
    for origin in given:
        parts = urlsplit(origin)
        if origin != "*" and (parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}"):
            raise ValueError("must be origins such as https://app.example.com, with commas between, or *")
    return given


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, with its variable, default and meaning; docs/settings.md and template.yaml list the same."""

    home: Path = _setting("~/.local/share/recollect", "Folder of all data on a laptop.", _folder)
    engines: str = _setting("local", "`local` (SQLite) or `aws` (DynamoDB, OpenSearch, S3).", _one_of("local", "aws"))
    search_engine: str = _setting(
        "domain",
        "On AWS: `domain` (OpenSearch) or `table` (the DynamoDB table itself, no engine; "
        "[operations.md](operations.md#search-engine)).",
        _one_of("domain", "table"),
    )
    rules: Path | None = _setting(
        "", "JSON file of rules, merged over the defaults ([rules.md](rules.md)).", _optional_file
    )
    rules_parameter: str = _setting("", "SSM parameter with the same JSON; only one of the two may be set.")
    api_keys: Mapping[str, Principal] = _setting(
        "",
        'Keys of the laptop\'s server: `{"key-a": {"tenant": "acme", "admin": true}}`. Once set, a key is required.',
        _api_keys,
    )
    signing_keys: Mapping[str, SigningKey] = _setting(
        "",
        'Access keys of clients that sign as AWS does: `{"AKIAEXAMPLE": {"secret": "…", "tenant": "acme"}}`, `admin` '
        "too ([agentcore.md](integrations/agentcore.md)). Once set, a key or a signature is required.",
        signing_keys,
    )
    signing_keys_parameter: str = _setting(
        "",
        "SSM parameter (SecureString) that holds the same, read once at start; only one of the two may be set. On AWS "
        "it is the parameter `SigningKeysParameter`.",
    )
    cors_origins: tuple[str, ...] = _setting(
        "",
        "Origins, with commas between them, whose pages may call the laptop's server from a browser (`/mcp` excepted); "
        "`*`, any, only beside API keys. On AWS it is the parameter `CorsOrigins`.",
        _origins,
    )
    test_clock: bool = _setting(
        "0", "`1` lets `X-Recollect-Now` set the clock of a request. Never in production.", _flag
    )
    local_api: bool = _setting(
        "0",
        "`1` under `sam local start-api`, which checks no token: `X-Recollect-Tenant` names the tenant of a request "
        "from this machine. Where an engine is elsewhere nothing starts with it.",
        _flag,
    )
    projector: str = _setting(
        "on",
        "`off` stops the projector of `recollect serve`; `recollect import` never waits for it then.",
        _one_of("on", "off"),
    )
    embedder: str = _setting(
        "e5",
        "`e5` (in process, a hundred languages), `openai`, `bedrock`, `hashing` (tests), `none` "
        "([models.md](models.md)).",
        _one_of("e5", "openai", "bedrock", "hashing", "none"),
    )
    embedding_dimension: int = _setting(
        "384", "Length of the vectors of an OpenAI-compatible or a Bedrock model.", _positive
    )
    model_folder: str = _setting(
        "", "Folder of the embedding model; empty: the Lambda layer's, or the user's cache (`recollect init`)."
    )
    judge: str = _setting(
        "auto",
        "What reads contradictions in words: `e5` (in process, beside the embedder of that name), `none` (keys alone), "
        "`model` (`e5`, and the language model of `RECOLLECT_MODEL` about what it leaves open); "
        "`auto` is `e5` with that embedder ([contradictions.md](contradictions.md)).",
        _one_of("auto", "e5", "none", "model"),
    )
    extraction: str = _setting(
        "off",
        "`off`, or `model`: whoever summarizes, a language model of `RECOLLECT_MODEL`, also chooses which of the "
        "user's messages become memories ([memories.md](memories.md#chosen-by-a-model)).",
        _one_of("off", "model"),
    )
    rerank: str = _setting(
        "auto",
        "What reads a question and each of the best hits together: `e5` (in process, beside that embedder) or "
        "`none`; `auto` is `e5` with that embedder ([retrieval.md](retrieval.md)).",
        _one_of("auto", "e5", "none"),
    )
    model_function: str = _setting(
        "",
        "Lambda function that has the models of `e5` in it, for one that asks there instead: it mostly waits for "
        "something else, as `converse` does.",
    )
    openai_base_url: str = _setting("", "An OpenAI-compatible server, up to and with `/v1`.", _url)
    openai_api_key: str = _setting("", "Its key, where it wants one.", header_value)
    openai_api_key_parameter: str = _setting(
        "", "SSM parameter (SecureString) that holds that key, read once at start; only one of the two may be set."
    )
    openai_embedding_model: str = _setting("", "Its embedding model.")
    model: tuple[str, ...] = _setting(
        "extractive",
        "Who answers and summarizes: `extractive` (quotes, no model), `openai`, `bedrock`, or several in the order in "
        "which they are tried, such as `openai,extractive` ([models.md](models.md)).",
        _in_order("extractive", "openai", "bedrock"),
    )
    model_timeout_seconds: float = _setting("30", "How long one attempt with a language model may take.", _seconds)
    openai_model: str = _setting("", "Language model of the OpenAI-compatible server, such as `llama3.2`.")
    bedrock_model: str = _setting("", "Language model on Bedrock: id of a model or inference profile, or an ARN.")
    web_search: str = _setting(
        "off",
        "`off`, or `duckduckgo`: inputs that ask for current information leave the machine.",
        _one_of("off", "duckduckgo"),
    )
    web_search_url: str = _setting("https://api.duckduckgo.com", "Asked instead of DuckDuckGo's own address.", _url)
    table: str = _setting("recollect", "DynamoDB table.")
    opensearch_url: str = _setting(
        "", "OpenSearch endpoint. Calls to a managed domain are signed; `user:password@` is basic authentication.", _url
    )
    index_prefix: str = _setting("recollect", "Beginning of the index's name.")
    index_shards: int = _setting(
        "1",
        "Shards of an index that is made from now on; one that there is keeps its own "
        "([operations.md](operations.md#size-of-the-search-engine)).",
        _positive,
    )
    index_cache_megabytes: int = _setting(
        "64",
        "How much of the blocks of the table's own index a process keeps for its next searches; 0 for nothing "
        "([operations.md](operations.md#search-engine)).",
        _megabytes,
    )
    snapshot_bucket: str = _setting("", "S3 bucket of snapshots.")
    event_bus: str = _setting("", "EventBridge bus; empty publishes to the readable log only.")
    tenant_claim: str = _setting("tenant", "Claim of the JWT that names the tenant.")
    jwt_issuer: str = _setting(
        "", "Issuer of the tokens that a stack's function `authorizer` checks, as they name it (`ApiKeys`)."
    )
    jwt_audiences: tuple[str, ...] = _setting("", "Audiences of which such a token has one, with commas.", _names)
    subject_claim: str = _setting("", "Claim that `user_id` must equal; empty: a token may speak for every user.")
    admin_scope: str = _setting("recollect/admin", "OAuth scope, or Cognito group, that makes an administrator.")
    call_timeout_seconds: float = _setting("2", "How long a call to DynamoDB, OpenSearch or S3 may take.", _seconds)
    mcp_user: str = _setting(
        "", "User of `recollect mcp`, and on a laptop of `/mcp` without the header `X-Recollect-User`."
    )
    item_owners: tuple[tuple[str, ...], ...] = _setting(
        "",
        "Namespaces of items that name the user who owns them, such as `users.{user_id},*.{user_id}.notes`: erasing "
        "and exporting that user reaches them ([items.md](items.md#owners)).",
        owner_patterns,
    )
    log_level: str = _setting(
        "INFO", "`DEBUG`, `INFO`, `WARNING` or `ERROR`.", _one_of("DEBUG", "INFO", "WARNING", "ERROR")
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Reads and checks all of them. Raises ConfigurationError, which names the variable."""
        values = {setting.name: _read(setting, environment) for setting in fields(cls)}
        settings = cls(**values)
        if settings.rules is not None and settings.rules_parameter:
            raise ConfigurationError("RECOLLECT_RULES_PARAMETER", "cannot be set beside RECOLLECT_RULES")
        if "*" in settings.cors_origins and not settings.has_keys:
            raise ConfigurationError("RECOLLECT_CORS_ORIGINS", "may be * only beside RECOLLECT_API_KEYS")
        if settings.openai_api_key and settings.openai_api_key_parameter:
            raise ConfigurationError(
                "RECOLLECT_OPENAI_API_KEY_PARAMETER", "cannot be set beside RECOLLECT_OPENAI_API_KEY"
            )
        if settings.engines == "aws" and settings.search_engine == "domain" and not settings.opensearch_url:
            raise ConfigurationError("RECOLLECT_OPENSEARCH_URL", "is needed with RECOLLECT_SEARCH_ENGINE=domain")
        if settings.embedder == "openai" and not settings.openai_base_url:
            raise ConfigurationError("RECOLLECT_OPENAI_BASE_URL", "is needed with RECOLLECT_EMBEDDER=openai")
        if settings.signing_keys and settings.signing_keys_parameter:
            raise ConfigurationError("RECOLLECT_SIGNING_KEYS_PARAMETER", "cannot be set beside RECOLLECT_SIGNING_KEYS")
        settings.check_names("RECOLLECT_SIGNING_KEYS")
        settings._check_models()
        return settings

    def check_names(self, variable: str) -> None:
        """Raises ConfigurationError where the name of an access key, which is sent in the clear, is a key itself."""
        if shared := self.signing_keys.keys() & self.api_keys.keys():
            raise ConfigurationError(variable, f"{len(shared)} of the names are keys of RECOLLECT_API_KEYS")

    @property
    def has_keys(self) -> bool:
        """Whether the laptop's server asks for a key or a signature."""
        return bool(self.api_keys or self.signing_keys or self.signing_keys_parameter)

    @property
    def asks_openai(self) -> bool:
        """Whether an OpenAI-compatible server is asked, for vectors or for answers."""
        return self.embedder == "openai" or "openai" in self.model

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
        for variable, wanted in (("RECOLLECT_JUDGE", self.judge), ("RECOLLECT_EXTRACTION", self.extraction)):
            if wanted == "model" and self.model[0] == "extractive":
                raise ConfigurationError("RECOLLECT_MODEL", f"must begin with a language model with {variable}=model")


def _read(setting: "Field[Any]", environment: Mapping[str, str]) -> Any:
    variable = _variable_of(setting)
    try:
        return setting.metadata["parse"](environment.get(variable, "").strip() or setting.metadata["default"])
    except ValueError as error:
        meaning = "is no JSON" if isinstance(error, json.JSONDecodeError) else str(error)
        raise ConfigurationError(variable, meaning) from None


def variables() -> list[tuple[str, str, str]]:
    """Variable, default and meaning of each setting, in order, for the documentation."""
    return [(_variable_of(one), one.metadata["default"], one.metadata["meaning"]) for one in fields(Settings)]
