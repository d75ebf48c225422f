"""Which positions of the columns a search may show: the rule of `domain.filters.drop_reason`, over whole columns."""

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recollect.adapters.local.columns import Columns
from recollect.adapters.local.documents import facet_label, tag_label
from recollect.domain.filters import DropReason, SearchFilters, metadata_facets
from recollect.domain.instants import microseconds
from recollect.domain.scope import Scope

Mask: TypeAlias = NDArray[np.bool_]
Labelled: TypeAlias = list[NDArray[np.int64]]
"""For each label that is asked for, the rows that have it."""


def tests(
    columns: Columns, scope: Scope, filters: SearchFilters, labelled: Labelled
) -> Iterator[tuple[DropReason, Mask]]:
    """Pairs of a reason and a mask of the positions that it leaves, in the order in which reasons are tried."""
    for name, wanted in (("persona", scope.persona_id), ("household", scope.household_id)):
        if wanted is not None:
            yield DropReason.SCOPE, columns[name] == columns.code(wanted)
    yield DropReason.PRIVATE, ~columns["private"]
    yield DropReason.EXPIRED, columns["expires_at"] > microseconds(filters.now)
    if not filters.admits_superseded:
        yield DropReason.SUPERSEDED, ~columns["superseded"]
    yield from ((DropReason.WINDOW, mask) for mask in _in_time(columns, filters))
    yield from ((DropReason.FILTER, mask) for mask in _fitting(columns, filters, labelled))


def admitted(columns: Columns, found: Iterable[tuple[DropReason, Mask]]) -> Mask:
    """The positions that pass all tests."""
    mask = columns["alive"].copy()
    for _, passing in found:
        mask &= passing
    return mask


def superseded_only(columns: Columns, found: Iterable[tuple[DropReason, Mask]]) -> Mask:
    """The positions that fail the test for supersession alone."""
    mask = admitted(columns, (pair for pair in found if pair[0] is not DropReason.SUPERSEDED))
    mask &= columns["superseded"]
    return mask


def labelled_rows(connection: sqlite3.Connection, user_number: int, filters: SearchFilters) -> Labelled:
    """The rows of each tag and each pair of metadata that the filters ask for."""
    labels = [*map(tag_label, filters.tags), *map(facet_label, metadata_facets(filters.metadata))]
    query = "SELECT row FROM labels WHERE scope = ? AND label = ?"
    found = (connection.execute(query, (user_number, label)).fetchall() for label in labels)
    return [np.array(rows, dtype=np.int64).reshape(-1) for rows in found]


def _in_time(columns: Columns, filters: SearchFilters) -> Iterator[Mask]:
    bounds = (
        ("timestamp", filters.window.start, np.greater_equal),
        ("timestamp", filters.latest, np.less_equal),
        ("recorded_at", filters.recorded_as_of, np.less_equal),
    )
    return (compare(columns[name], _micros(bound)) for name, bound, compare in bounds if bound is not None)


def _micros(moment: datetime) -> np.int64:
    return np.int64(microseconds(moment))


def _fitting(columns: Columns, filters: SearchFilters, labelled: Labelled) -> Iterator[Mask]:
    wanted = (
        ("conversation", filters.conversation_id),
        ("event_type", filters.event_type),
        ("key", filters.key),
        ("space", filters.space_id),
        ("source", filters.source),
    )
    yield from (columns[name] == columns.code(value) for name, value in wanted if value is not None)
    for rows in labelled:
        mask = np.zeros(len(columns), dtype=np.bool_)
        mask[columns.positions(rows)] = True
        yield mask
