"""Rules from a JSON document, merged over others; every fault has its path.

Objects merge by name (K-53: a category from configuration is merged over the defaults); lists and single values
replace those before. A value out of bounds is reported and the value before it stays.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, NoReturn

from recollect.rules.groups import CATEGORIES, RetentionRule, Rules
from recollect.rules.values import Kind, Path, Place, RuleFault, is_object, refuse_unknown

MOST_BYTES = 64 * 1024
"""Of a rules document, as compact JSON in UTF-8."""

MOST_POLICIES = 50


@dataclass(frozen=True, slots=True)
class RulesReading:
    """The rules that could be read, and the faults of the rest."""

    rules: Rules
    faults: tuple[RuleFault, ...]


def read_rules(document: Any, base: Rules) -> RulesReading:
    """The document merged over `base`. Never raises; merging the same document again changes nothing."""
    place = Place()
    if not _fits(document):
        place.refuse(f"must be at most {MOST_BYTES} bytes of JSON")
    elif is_object(document, place):
        return RulesReading(_merged(document, base, place), tuple(place.faults))
    return RulesReading(base, tuple(place.faults))


def read_rules_json(text: str, base: Rules) -> RulesReading:
    """The same from a JSON text; invalid JSON is one fault of the whole."""
    try:
        document = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return RulesReading(base, (RuleFault((), "is no JSON"),))
    return read_rules(document, base)


def shown_path(path: Path) -> str:
    """A path in one word, such as `retention[0].older_than_days`; the empty path is `the rules`."""
    shown = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return shown.removeprefix(".") or "the rules"


def _fits(document: Any) -> bool:
    try:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        return False
    return len(text.encode("utf-8", "surrogatepass")) <= MOST_BYTES


def _merged(document: Mapping[str, Any], base: Rules, place: Place) -> Rules:
    known = {group.name: getattr(base, group.name) for group in fields(Rules) if group.init}
    read = {
        name: _READERS.get(name, _read_group)(document[name], before, place.inside(name))
        for name, before in known.items()
        if name in document
    }
    refuse_unknown(document, known, place)
    return Rules(**{**known, **read})


def _read_group(value: Any, before: Any, place: Place) -> Any:
    if not is_object(value, place):
        return before
    read = {
        rule.name: kind_of(rule).read(value[rule.name], getattr(before, rule.name), place.inside(rule.name))
        for rule in fields(before)
        if rule.name in value
    }
    refuse_unknown(value, {rule.name for rule in fields(before)}, place)
    return type(before)(**{**{rule.name: getattr(before, rule.name) for rule in fields(before)}, **read})


def _read_policies(value: Any, before: Any, place: Place) -> Any:
    if not isinstance(value, list) or len(value) > MOST_POLICIES:
        place.refuse(f"must be a list of at most {MOST_POLICIES} policies")
        return before
    read = [_read_policy(policy, place.inside(position)) for position, policy in enumerate(value)]
    return tuple(read) if all(read) else before


def _read_policy(value: Any, place: Place) -> RetentionRule | None:
    if not is_object(value, place):
        return None
    own = Place(place.path)
    rules = fields(RetentionRule)
    read = {rule.name: _policy_value(rule, value, own.inside(rule.name)) for rule in rules}
    refuse_unknown(value, {rule.name for rule in rules}, own)
    for fault in own.faults:
        Place(fault.path, place.faults).refuse(fault.message)
    return None if own.faults else RetentionRule(**read)


def _policy_value(rule: "Field[Any]", value: Mapping[str, Any], place: Place) -> Any:
    if rule.name in value:
        return kind_of(rule).read(value[rule.name], rule.default, place)
    if rule.default is MISSING:
        place.refuse("is required")
    return rule.default


def kind_of(rule: "Field[Any]") -> Kind:
    kind: Kind = rule.metadata["kind"]
    return kind


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


_READERS: Mapping[str, Callable[[Any, Any, Place], Any]] = {"tags": CATEGORIES.read, "retention": _read_policies}
