"""Terms, rules and corrections that users taught, and the schemas of their values (S-01 to S-21, S-39).

Writing is strict: wrong types, missing and unknown fields are refused with their path. Reading passes over unknown
fields.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NoReturn, TypeAlias

from recollect.core.errors import InvalidInput
from recollect.core.event import Source
from recollect.core.ids import id_fault

VALUE_BYTES = 16 * 1024
VALUE_DEPTH = 8
LONGEST_TARGET = 256
MOST_STORES = 100

GLOBAL = "global"
"""The resource whose terms hold in every store (S-05)."""

_LARGEST_WHOLE = 2**63 - 1
_SHOWN_CHARACTERS = 64
Path: TypeAlias = tuple[str | int, ...]
Check: TypeAlias = Callable[[Any, Path], None]


class Namespace(StrEnum):
    """The namespaces that have a meaning; every other one is free: plain JSON, in no prompt."""

    VOCABULARY = "vocabulary"
    RULE = "rule"
    CORRECTION = "correction"


class KnowledgeSource(StrEnum):
    """Who a mapping comes from (S-10)."""

    USER_INSTRUCTION = "user_instruction"
    INFERENCE = "inference"


@dataclass(frozen=True, slots=True)
class KnowledgeEntry:
    """An entry as stored: the value is JSON, `version` counts its writes from 1.

    `source` is `inferred` for a model's call, None for a person or a program.
    """

    namespace: str
    key: str
    value: Any
    version: int
    updated_at: datetime
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A users' word and the field or store that it means; `key` is `{resource}:{term}` (S-03, S-04)."""

    key: str
    resource: str
    term: str
    target: str

    def holds_in(self, store: str | None) -> bool:
        """Whether it holds in that store; None: in any."""
        return store is None or self.resource in (store, GLOBAL)


@dataclass(frozen=True, slots=True)
class BusinessRule:
    """A concept and the condition that it stands for: opaque text, never executed here (S-12, S-14)."""

    key: str
    condition: str
    applies_to: tuple[str, ...]

    def holds_in(self, store: str | None) -> bool:
        """Whether it holds in that store; without stores of its own it holds in all (S-15). None: in any."""
        return store is None or not self.applies_to or store in self.applies_to


@dataclass(frozen=True, slots=True)
class Correction:
    """What to do or avoid, and when (S-18, S-20, S-21)."""

    key: str
    instruction: str
    trigger: str


@dataclass(frozen=True, slots=True)
class KnowledgeSection:
    """The prompt's sections, None where they are empty, and the entries that stand in them.

    `skipped` counts malformed entries, which are left out (S-02, S-32); `cut`: there are more than were read.
    """

    text: str | None
    entries: tuple[KnowledgeEntry, ...]
    skipped: int = 0
    cut: bool = False


Meaning: TypeAlias = Term | BusinessRule | Correction


@dataclass(frozen=True, slots=True)
class Meanings:
    """What entries mean, each kind by key; `skipped` counts malformed ones (S-02, S-32)."""

    terms: tuple[Term, ...]
    rules: tuple[BusinessRule, ...]
    corrections: tuple[Correction, ...]
    skipped: int


def check_ids(namespace: str, key: str) -> None:
    """Raises InvalidInput, with `loc` ("namespace",) or ("key",), where one of them is no id."""
    for name, value in (("namespace", namespace), ("key", key)):
        fault = id_fault(value)
        if fault is not None:
            raise InvalidInput(fault, (name,))


def checked_entry(namespace: str, key: str, value: Any) -> Any:
    """The value to store at that place. Raises InvalidInput with `loc` from "namespace", "key" or "value" on."""
    check_ids(namespace, key)
    if namespace == Namespace.VOCABULARY:
        term_of(key)
    return checked_value(namespace, value)


def texts_of(namespace: str, key: str, value: Any) -> list[str]:
    """All texts of an entry: its namespace, its key, a term within that, and every text in its value."""
    term = key.partition(":")[2]
    return [namespace, key, *([term] if term else []), *_texts_in(value)]


def _texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [*map(str, value), *(text for part in value.values() for text in _texts_in(part))]
    return [text for part in value for text in _texts_in(part)] if isinstance(value, list) else []


def term_of(key: str) -> tuple[str, str]:
    """Resource and term of a vocabulary key, split at its first colon (S-04). Raises InvalidInput at ("key",)."""
    resource, _, term = key.partition(":")
    if not resource.strip() or not term.strip():
        raise InvalidInput("a key of the vocabulary is resource:term, neither of them blank", ("key",))
    return resource, term


def meanings_of(entries: Iterable[KnowledgeEntry]) -> Meanings:
    """The entries of the three namespaces, read; a malformed one is skipped and counted, free ones mean nothing."""
    found: list[Meaning] = []
    skipped = 0
    for entry in sorted(entries, key=lambda entry: (entry.namespace, entry.key)):
        try:
            found += _meaning(entry)
        except InvalidInput:
            skipped += 1
    return Meanings(
        tuple(one for one in found if isinstance(one, Term)),
        tuple(one for one in found if isinstance(one, BusinessRule)),
        tuple(one for one in found if isinstance(one, Correction)),
        skipped,
    )


def held_in(meanings: Meanings, store: str | None) -> Meanings:
    """What holds in that store: its own terms before global ones of the same spelling (S-22, S-23)."""
    own = {term.term.casefold() for term in meanings.terms if store is not None and term.resource == store}
    terms = (term for term in meanings.terms if term.holds_in(store))
    held = tuple(t for t in terms if t.resource == store or t.term.casefold() not in own)
    return replace(meanings, terms=held, rules=tuple(rule for rule in meanings.rules if rule.holds_in(store)))


def _meaning(entry: KnowledgeEntry) -> Sequence[Meaning]:
    if entry.namespace == Namespace.VOCABULARY:
        resource, term = term_of(entry.key)
        return (Term(entry.key, resource, term, read_value(Namespace.VOCABULARY, entry.value)["target"]),)
    if entry.namespace == Namespace.RULE:
        value = read_value(Namespace.RULE, entry.value)
        return (BusinessRule(entry.key, value["condition"], tuple(value["applies_to"])),)
    if entry.namespace == Namespace.CORRECTION:
        value = read_value(Namespace.CORRECTION, entry.value)
        return (Correction(entry.key, value["instruction"], value["trigger"]),)
    return ()


@dataclass(frozen=True, slots=True)
class _Field:
    check: Check
    required: bool = False
    default: Any = None


def checked_value(namespace: str, value: Any) -> Any:
    """The value to store; in the three namespaces an object, or the text of one, with every default filled in.

    Raises InvalidInput, its `loc` beginning with "value": over 16 KiB as JSON or 8 levels deep, no JSON, or against the
    namespace's schema.
    """
    if namespace not in SCHEMAS:
        _check_json(value, ("value",), VALUE_DEPTH)
        return _within_size(value)
    given = _object(value)
    _refuse_unknown(given, SCHEMAS[namespace])
    return _within_size(_filled(given, SCHEMAS[namespace]))


def read_value(namespace: Namespace, stored: Any) -> Mapping[str, Any]:
    """A stored value of the three namespaces with every default. Raises InvalidInput for a malformed one (S-02)."""
    return _filled(_object(stored), SCHEMAS[namespace])


def _object(value: Any) -> Mapping[str, Any]:
    """S-02 speaks of JSON strings."""
    found = _parsed(value) if isinstance(value, str) else value
    if not isinstance(found, Mapping):
        raise InvalidInput("must be an object, or the text of one", ("value",))
    return found


def _parsed(text: str) -> Any:
    if len(text) > VALUE_BYTES:
        raise _too_large()
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise InvalidInput("must be an object, or the text of one: this text is no JSON", ("value",)) from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _filled(given: Mapping[str, Any], schema: Mapping[str, _Field]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for name, field in schema.items():
        value = given.get(name)
        if value is not None:
            field.check(value, ("value", name))
            read[name] = value
        elif field.required:
            raise InvalidInput("is required", ("value", name))
        elif field.default is not None:
            read[name] = field.default
    return read


def _refuse_unknown(given: Mapping[str, Any], schema: Mapping[str, _Field]) -> None:
    for name in given:
        if name not in schema:
            shown = name[:_SHOWN_CHARACTERS].encode("utf-8", "replace").decode()
            raise InvalidInput("unknown field", ("value", shown))


def _text(value: Any, path: Path) -> None:
    if not isinstance(value, str):
        raise InvalidInput("must be text", path)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput("has half of a surrogate pair, which is no Unicode text", path) from None


def _said(value: Any, path: Path) -> None:
    _text(value, path)
    if not value.strip():
        raise InvalidInput("must not be blank", path)


def _name(value: Any, path: Path) -> None:
    _said(value, path)
    if len(value) > LONGEST_TARGET:
        raise InvalidInput(f"must have at most {LONGEST_TARGET} characters", path)


def _one_of(*words: str) -> Check:
    def check(value: Any, path: Path) -> None:
        if not isinstance(value, str) or value not in words:
            raise InvalidInput(f"must be one of {', '.join(words)}", path)

    return check


def _share(value: Any, path: Path) -> None:
    _number(value, path)
    if not 0 <= value <= 1:
        raise InvalidInput("must lie within 0 and 1", path)


def _stores(value: Any, path: Path) -> None:
    if not isinstance(value, list) or len(value) > MOST_STORES:
        raise InvalidInput(f"must be a list of at most {MOST_STORES} names of stores", path)
    for position, store in enumerate(value):
        _name(store, (*path, position))


def _number(value: Any, path: Path) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput("must be a number", path)
    if isinstance(value, int) and abs(value) > _LARGEST_WHOLE:
        raise InvalidInput("is out of range", path)
    if not math.isfinite(value):
        raise InvalidInput("must be a finite number", path)


def _check_json(value: Any, path: Path, levels: int) -> None:
    if isinstance(value, Mapping | list):
        if levels == 0:
            raise InvalidInput("is nested too deeply", ("value",))
        for part in (*value, *value.values()) if isinstance(value, Mapping) else value:
            _check_json(part, path, levels - 1)
    elif isinstance(value, str):
        _text(value, path)
    elif value is not None and not isinstance(value, bool):
        _number(value, path)


def _within_size(value: Any) -> Any:
    if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > VALUE_BYTES:
        raise _too_large()
    return value


def _too_large() -> InvalidInput:
    return InvalidInput(f"must be at most {VALUE_BYTES} bytes of JSON", ("value",))


SCHEMAS: Mapping[str, Mapping[str, _Field]] = {
    Namespace.VOCABULARY: {
        "target": _Field(_name, required=True),
        "type": _Field(_one_of("synonym"), default="synonym"),
        "description": _Field(_text),
        "confidence": _Field(_share, default=1.0),
        "source": _Field(_one_of(*KnowledgeSource), default=KnowledgeSource.USER_INSTRUCTION.value),
    },
    Namespace.RULE: {
        "condition": _Field(_said, required=True),
        "applies_to": _Field(_stores, default=[]),
        "description": _Field(_text),
    },
    Namespace.CORRECTION: {
        "instruction": _Field(_said, required=True),
        "trigger": _Field(_text, required=True),
    },
}
"""The fields of the three namespaces (S-06 to S-10, S-14 to S-16, S-20, S-21)."""
