"""What a search's filters ask of one user's documents, for the indexes that filter them themselves.

An index says what a set of its documents is, an array or a condition of SQL, and how sets are made (`Documents`).
Filters follow `retrieval.filters.drop_reason`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from recollect.core.event import Role
from recollect.core.filter import MISSING, ORDERING, AllOf, Condition, Filter, Not, Operator, fulfils
from recollect.core.scope import Scope
from recollect.core.time import microseconds
from recollect.retrieval.attributes import (
    DECIDED,
    NAMES,
    NUMBER,
    TAGS,
    TIMES,
    Asked,
    Span,
    always_decided,
    asked_of,
    instants,
    opposite,
)
from recollect.retrieval.filters import DropReason, SearchFilters, metadata_facets
from recollect.retrieval.nomination import ASKING

M = TypeVar("M")
"""A set of documents."""

_TAG, _FACET, _ATTRIBUTE = "t", "m", "a"


class Documents(Protocol[M]):
    """One user's documents by their columns.

    Times: `timestamp`, `recorded_at`, `expires_at`, of which the last may be absent. Flags: `private`, `superseded`.
    Names, each of which may be absent: `persona`, `household`, `conversation`, `event_type`, `source`, `key`, `space`,
    `role`. `importance` is a number.
    """

    def named(self, column: str, name: str) -> M:
        """Those with this name."""

    def flagged(self, column: str) -> M:
        """Those with this flag."""

    def unexpired(self, now: int) -> M:
        """Those that do not expire, or later than this (microseconds)."""

    def timed(self, column: str, operator: Operator, times: Sequence[int]) -> M:
        """Those with a time in the column that fulfils: in order to the first of these; equal to one; there at all."""

    def valued(self, column: str, suits: Callable[[Any], bool]) -> M:
        """Those whose value suits: a name or None, or a number."""

    def labelled(self, asked: Asked) -> M:
        """Those with a label that is asked for."""

    def every(self, sets: Sequence[M]) -> M:
        """Those in all of these sets; all documents where there is none."""

    def some(self, sets: Sequence[M]) -> M:
        """Those in one of these sets at least."""

    def other(self, one: M) -> M:
        """Those that are not in the set."""


def reasons(documents: Documents[M], scope: Scope, filters: SearchFilters) -> Iterator[tuple[DropReason, M]]:
    """Pairs of a reason and the documents that it does not drop, in the order of the reasons."""
    for name, wanted in (("persona", scope.persona_id), ("household", scope.household_id)):
        if wanted is not None:
            yield DropReason.SCOPE, documents.named(name, wanted)
    yield DropReason.PRIVATE, documents.other(documents.flagged("private"))
    yield DropReason.EXPIRED, documents.unexpired(microseconds(filters.now))
    if not filters.admits_superseded:
        yield DropReason.SUPERSEDED, documents.other(documents.flagged("superseded"))
    for column, operator, bound in _bounds(filters):
        if bound is not None:
            yield DropReason.WINDOW, documents.timed(column, operator, [microseconds(bound)])
    for column, asked_for in _names(filters):
        if asked_for is not None:
            yield DropReason.FILTER, documents.named(column, asked_for)
    equal = labels_of(filters.tags, metadata_facets(filters.metadata))
    for asked in (*(Asked((label,)) for label in equal), *(one.behind(_ATTRIBUTE) for one in filters.labels)):
        yield DropReason.FILTER, documents.labelled(asked)
    yield DropReason.FILTER, _Where(documents).sets(filters.where)[1]


def _bounds(filters: SearchFilters) -> Sequence[tuple[str, Operator, datetime | None]]:
    return (
        ("timestamp", Operator.GTE, filters.window.start),
        ("timestamp", Operator.LTE, filters.latest),
        ("recorded_at", Operator.LTE, filters.recorded_as_of),
    )


def _names(filters: SearchFilters) -> Sequence[tuple[str, str | None]]:
    return (
        ("conversation", filters.conversation_id),
        ("event_type", filters.event_type),
        ("key", filters.key),
        ("space", filters.space_id),
        ("source", filters.source),
    )


def admitted(documents: Documents[M], found: Iterable[tuple[DropReason, M]]) -> M:
    """The documents that no reason drops."""
    return documents.every([passing for _, passing in found])


def own_words(documents: Documents[M], among: M) -> M:
    """Those of these that a user said, not an assistant."""
    return documents.every([among, documents.other(documents.named("role", Role.BOT))])


def only_superseded(documents: Documents[M], found: Sequence[tuple[DropReason, M]]) -> M:
    """The documents that supersession alone drops."""
    others = [passing for reason, passing in found if reason is not DropReason.SUPERSEDED]
    return documents.every([*others, documents.flagged("superseded")])


@dataclass(frozen=True, slots=True)
class _Where(Generic[M]):
    """A filter over columns and labels."""

    documents: Documents[M]

    def sets(self, wanted: Filter) -> tuple[M, M]:
        """The documents for which the filter holds for certain, and those for which it may hold."""
        if isinstance(wanted, Condition):
            return self._of_condition(wanted)
        if isinstance(wanted, Not):
            surely, perhaps = self.sets(wanted.filter)
            return self.documents.other(perhaps), self.documents.other(surely)
        join = self.documents.every if isinstance(wanted, AllOf) else self.documents.some
        parts = [self.sets(one) for one in wanted.filters]
        return join([one for one, _ in parts]), join([one for _, one in parts])

    def _of_condition(self, one: Condition) -> tuple[M, M]:
        documents, column = self.documents, self._of_column(one)
        if column is not None:
            return column, column
        asked = _tag_asked(one) if one.path[0] == TAGS else asked_of(one)
        if asked is None:
            return documents.some([]), documents.every([])
        found = documents.labelled(asked if one.path[0] == TAGS else asked.behind(_ATTRIBUTE))
        found = documents.other(found) if opposite(one) else found
        if one.path[0] == TAGS or always_decided(one):
            return found, found
        decided = documents.labelled(Asked((_ATTRIBUTE + DECIDED,)))
        return documents.every([found, decided]), documents.some([found, documents.other(decided)])

    def _of_column(self, one: Condition) -> M | None:
        """None for a field that is no column."""
        name = one.path[0]
        if name in NAMES:
            return self.documents.valued(name.removesuffix("_id"), lambda value: _suits(_named(name, value), one))
        if name in TIMES:
            return self._of_times(one)
        return self.documents.valued(name, lambda value: _suits(value, one)) if name == NUMBER else None

    def _of_times(self, one: Condition) -> M:
        if one.operator is Operator.EXISTS:
            there = self.documents.timed(one.path[0], one.operator, ())
            return there if one.value else self.documents.other(there)
        wanted = instants(one.value)
        if one.operator in ORDERING:
            return self.documents.timed(one.path[0], one.operator, wanted) if wanted else self.documents.some([])
        equal = self.documents.timed(one.path[0], Operator.IN, wanted)
        return self.documents.other(equal) if one.operator is Operator.NE else equal


def _suits(value: Any, one: Condition) -> bool:
    """The reference itself."""
    return fulfils(value, one.operator, one.value)


def _named(field: str, name: str | None) -> Any:
    if field == "role" and name == ASKING:
        return "user"
    return name or MISSING


def _tag_asked(one: Condition) -> Asked | None:
    """What a condition asks of the tags, as labels; None where they do not tell: their order is not kept."""
    if one.operator is Operator.CONTAINS:
        return Asked((_TAG + one.value,)) if isinstance(one.value, str) else Asked()
    if one.operator is Operator.EXISTS:
        return Asked(spans=(Span(_TAG, chr(ord(_TAG) + 1)),))
    return Asked() if one.operator in ORDERING else None


def labels_of(tags: Sequence[str], facets: Sequence[str], attributes: Sequence[str] = ()) -> list[str]:
    """Tags, facets of the metadata and attributes as labels that never meet."""
    marked = ((_TAG, tags), (_FACET, facets), (_ATTRIBUTE, attributes))
    return [mark + one for mark, every in marked for one in every]
