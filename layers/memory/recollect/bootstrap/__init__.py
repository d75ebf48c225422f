"""The composition root: the only place that chooses adapters, and reads the rules of a deployment."""

import gc
import json
import os
from dataclasses import replace
from pathlib import Path

from recollect.app import App
from recollect.composition.deployment import Parts
from recollect.core.errors import INSTALL_AWS, ConfigurationError, NotReady, UpstreamFailed, require_package
from recollect.rules.groups import Rules
from recollect.rules.reading import read_rules_json, shown_path
from recollect.settings import Settings, header_value, signing_keys

__all__ = ["App", "Parts", "deployment_rules", "open_app", "raise_gc_threshold"]

FILE, PARAMETER = "RECOLLECT_RULES", "RECOLLECT_RULES_PARAMETER"
KEY_PARAMETER = "RECOLLECT_OPENAI_API_KEY_PARAMETER"
SIGNING_PARAMETER = "RECOLLECT_SIGNING_KEYS_PARAMETER"
_NEW_OBJECTS = 10_000


def open_app(settings: Settings | None = None) -> App:
    """The app of these settings; without settings those of the environment. Raises ConfigurationError."""
    chosen = _with_signing_keys(_with_key(settings or Settings.from_environment(os.environ)))
    return App(chosen, _parts(chosen), deployment_rules(chosen))


def _parts(settings: Settings) -> Parts:
    if settings.engines == "aws":
        require_package("boto3", "RECOLLECT_ENGINES=aws", INSTALL_AWS)
        from recollect.bootstrap.aws_parts import AwsParts

        parts = AwsParts(settings)
        if settings.local_api:
            from recollect.bootstrap.local_engines import require_local

            require_local(parts.endpoints())
        return parts
    from recollect.bootstrap.local_parts import LocalParts

    return LocalParts(settings)


def deployment_rules(settings: Settings) -> Rules:
    """The default rules with the settings' file or parameter merged over them, read once at start.

    Raises ConfigurationError, with the variable and every path that is wrong, and Unavailable or Throttled where the
    parameter cannot be read now.
    """
    if settings.rules is not None:
        return _checked(FILE, _file_text(settings.rules))
    if settings.rules_parameter:
        return _checked(PARAMETER, _parameter_text(PARAMETER, settings.rules_parameter, settings))
    return Rules()


def _file_text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(FILE, f"{file} is not UTF-8") from None
    except OSError as error:
        raise ConfigurationError(FILE, f"{file} cannot be read: {error.strerror}") from None


def _with_key(settings: Settings) -> Settings:
    """With the key of the OpenAI-compatible server, where a parameter holds it and the server is asked."""
    if not settings.openai_api_key_parameter or not settings.asks_openai:
        return settings
    text = _parameter_text(KEY_PARAMETER, settings.openai_api_key_parameter, settings).strip()
    try:
        return replace(settings, openai_api_key=header_value(text))
    except ValueError as error:
        raise ConfigurationError(KEY_PARAMETER, f"what it holds {error}") from None


def _with_signing_keys(settings: Settings) -> Settings:
    """With the access keys of clients that sign, where a parameter holds them."""
    if not settings.signing_keys_parameter:
        return settings
    text = _parameter_text(SIGNING_PARAMETER, settings.signing_keys_parameter, settings).strip()
    try:
        found = replace(settings, signing_keys=signing_keys(text))
    except ValueError as error:
        meaning = "is no JSON" if isinstance(error, json.JSONDecodeError) else str(error)
        raise ConfigurationError(SIGNING_PARAMETER, f"what it holds {meaning}") from None
    found.check_names(SIGNING_PARAMETER)
    return found


def _parameter_text(variable: str, name: str, settings: Settings) -> str:
    try:
        require_package("boto3", "reading it", INSTALL_AWS)
        from recollect.adapters.aws.clients import read_parameter

        return read_parameter(name, settings.call_timeout_seconds)
    except (NotReady, UpstreamFailed) as error:
        raise ConfigurationError(variable, f"{name} cannot be read: {error}") from error


def _checked(variable: str, text: str) -> Rules:
    reading = read_rules_json(text, Rules())
    if reading.faults:
        faults = "; ".join(f"{shown_path(fault.path)}: {fault.message}" for fault in reading.faults)
        raise ConfigurationError(variable, faults)
    return reading.rules


def raise_gc_threshold() -> None:
    """Begins a collection after 10,000 new objects instead of 700; for a process of ours, never a library's.

    A search over a thousand records makes tens of thousands of objects that live as long as the search. By Python's own
    thresholds that is thirty collections, and for every fourth search one over the whole heap: rules, words, caches.
    p95 of a search by intent was 226 ms with them and 160 ms without, in one run.
    """
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
