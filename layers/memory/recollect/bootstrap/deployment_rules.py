"""The rules of a deployment: the defaults, with a file or a parameter merged over them, read once at start."""

from collections.abc import Sequence
from pathlib import Path

from recollect.core.errors import ConfigurationError, NotReady, UpstreamFailed
from recollect.rules.groups import Rules
from recollect.rules.reading import read_rules_json, shown_path
from recollect.rules.values import RuleFault
from recollect.settings import Settings

FILE, PARAMETER = "RECOLLECT_RULES", "RECOLLECT_RULES_PARAMETER"


def deployment_rules(settings: Settings) -> Rules:
    """The rules that the settings name. Raises ConfigurationError, with the variable and every path that is wrong.

    Raises Unavailable or Throttled where the parameter cannot be read now.
    """
    if settings.rules is not None:
        return _checked(FILE, _file_text(settings.rules))
    if settings.rules_parameter:
        return _checked(PARAMETER, _parameter_text(settings))
    return Rules()


def _file_text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(FILE, f"{file} is not UTF-8") from None
    except OSError as error:
        raise ConfigurationError(FILE, f"{file} cannot be read: {error.strerror}") from None


def _parameter_text(settings: Settings) -> str:
    from recollect.adapters.aws.clients import read_parameter

    try:
        return read_parameter(settings.rules_parameter, settings.call_timeout_seconds)
    except (NotReady, UpstreamFailed) as error:
        raise ConfigurationError(PARAMETER, f"{settings.rules_parameter} cannot be read: {error}") from error


def _checked(variable: str, text: str) -> Rules:
    reading = read_rules_json(text, Rules())
    if reading.faults:
        raise ConfigurationError(variable, _told(reading.faults))
    return reading.rules


def _told(faults: Sequence[RuleFault]) -> str:
    return "; ".join(f"{shown_path(fault.path)}: {fault.message}" for fault in faults)
