"""What users taught: terms, rules and corrections, each under a key of its namespace (S-01 to S-21)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from recollect.domain.client_ids import id_fault
from recollect.domain.errors import InvalidInput
from recollect.domain.event import Source
from recollect.domain.knowledge_values import Namespace, checked_value, read_value

GLOBAL = "global"
"""The resource whose terms hold in every store (S-05)."""


@dataclass(frozen=True, slots=True)
class KnowledgeEntry:
    """An entry as stored: the value is JSON, `version` counts its writes from 1.

    `source` is `inferred` where a model's call wrote it, None for what a person or a program wrote.
    """

    namespace: str
    key: str
    value: Any
    version: int
    updated_at: datetime
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the users' and the field or store that it means; `key` is `{resource}:{term}` (S-03, S-04)."""

    key: str
    resource: str
    term: str
    target: str

    def holds_in(self, store: str | None) -> bool:
        """Whether it holds where the store is current; None: wherever."""
        return store is None or self.resource in (store, GLOBAL)


@dataclass(frozen=True, slots=True)
class BusinessRule:
    """A concept and the condition that it stands for: opaque text, never executed here (S-12, S-14)."""

    key: str
    condition: str
    applies_to: tuple[str, ...]

    def holds_in(self, store: str | None) -> bool:
        """Whether it holds in the store; without any named it holds in all (S-15). None: wherever."""
        return store is None or not self.applies_to or store in self.applies_to


@dataclass(frozen=True, slots=True)
class Correction:
    """What to do or avoid, and when (S-18, S-20, S-21)."""

    key: str
    instruction: str
    trigger: str


@dataclass(frozen=True, slots=True)
class KnowledgeSection:
    """The prompt's sections, None where there is nothing to say, and the entries that stand in them.

    `skipped` counts malformed entries, which are passed over (S-02, S-32); `cut`: there are more than were read.
    """

    text: str | None
    entries: tuple[KnowledgeEntry, ...]
    skipped: int = 0
    cut: bool = False


Meaning: TypeAlias = Term | BusinessRule | Correction


@dataclass(frozen=True, slots=True)
class Meanings:
    """What entries say, each kind in the order of its keys; `skipped` counts malformed ones (S-02, S-32)."""

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
    """All that an entry says: its namespace, its key, a term within that, and every text in its value."""
    term = key.partition(":")[2]
    return [namespace, key, *([term] if term else []), *_texts_in(value)]


def _texts_in(value: Any) -> list[str]:
    """Of a checked value, whose depth is bounded."""
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
    """What the entries of the three namespaces say; a malformed one is skipped and counted, free ones say nothing."""
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
    """What holds where the store is current: its own terms before global ones of the same spelling (S-22, S-23)."""
    own = {term.term.casefold() for term in meanings.terms if store is not None and term.resource == store}
    terms = (term for term in meanings.terms if term.holds_in(store))
    return Meanings(
        tuple(t for t in terms if t.resource == store or t.term.casefold() not in own),
        tuple(rule for rule in meanings.rules if rule.holds_in(store)),
        meanings.corrections,
        meanings.skipped,
    )


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
