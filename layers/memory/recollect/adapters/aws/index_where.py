"""Filters as clauses of OpenSearch (`core.filter`), over the fields of the mapping and the tokens of `facets`."""

import re
from collections.abc import Sequence
from typing import Any, TypeAlias

from recollect.core.filter import ORDERING, AllOf, Condition, Filter, Not, Operator, fulfils, kind_of
from recollect.retrieval.attributes import (
    DECIDED,
    MOST_PART,
    NAMES,
    NUMBER,
    TAGS,
    TIMES,
    Asked,
    always_decided,
    asked_of,
    instants,
    opposite,
)
from recollect.retrieval.nomination import ASKING

Clause: TypeAlias = dict[str, Any]

NOTHING: Clause = {"match_none": {}}
_EVERYTHING: Clause = {"match_all": {}}
_SPECIAL = re.compile(r"([\\*?])")
_SPOKEN = {"user": ["user", ASKING], "bot": ["bot"]}


def where_clause(wanted: Filter, *, surely: bool = False) -> Clause:
    """The records where the filter may hold, or holds `surely`: they differ where the index does not tell."""
    if isinstance(wanted, Condition):
        return _condition(wanted, surely)
    if isinstance(wanted, Not):
        return _without(where_clause(wanted.filter, surely=not surely))
    parts = [where_clause(one, surely=surely) for one in wanted.filters]
    return _all(parts) if isinstance(wanted, AllOf) else _any(parts)


def having(asked: Asked) -> Clause:
    """The records that have a token which is asked for."""
    exact: list[Clause] = [{"terms": {"facets": list(asked.exact)}}] if asked.exact else []
    spans: list[Clause] = [{"range": {"facets": {"gte": span.first, "lt": span.end}}} for span in asked.spans]
    parts = [_wildcard("facets", one.start, one.part) for one in asked.parts]
    return _any([*exact, *spans, *parts])


def _condition(one: Condition, surely: bool) -> Clause:
    name = one.path[0]
    unclear = NOTHING if surely else _EVERYTHING
    if name in TIMES or name == NUMBER:
        return _number(one)
    if name in NAMES:
        return _name(one) or unclear
    if name == TAGS:
        return _tag(one) or unclear
    asked = asked_of(one)
    if asked is None:
        return unclear
    found = _without(having(asked)) if opposite(one) else having(asked)
    if always_decided(one):
        return found
    decided: Clause = {"term": {"facets": {"value": DECIDED}}}
    return _all([found, decided]) if surely else _any([found, _without(decided)])


def _number(one: Condition) -> Clause:
    """Of a time in microseconds, or of the importance."""
    name, operator = one.path[0], one.operator
    if operator is Operator.EXISTS:
        there: Clause = {"exists": {"field": name}}
        return there if one.value else _without(there)
    wanted = instants(one.value) if name in TIMES else _numbers(one.value)
    if operator in ORDERING:
        return {"range": {name: {operator.value: wanted[0]}}} if wanted else NOTHING
    equal: Clause = {"terms": {name: wanted}} if wanted else NOTHING
    if operator is Operator.NE:
        return _without(equal)
    return equal if operator in (Operator.EQ, Operator.IN) else NOTHING


def _numbers(wanted: object) -> list[Any]:
    values = wanted if isinstance(wanted, list | tuple) else [wanted]
    return [value for value in values if kind_of(value) == "number"]


def _name(one: Condition) -> Clause | None:
    """Of a keyword, which is "" where there is none; None where the engine cannot tell."""
    name, operator, value = one.path[0], one.operator, one.value
    if name == "role":
        said = [
            stored for role, all_stored in _SPOKEN.items() if fulfils(role, operator, value) for stored in all_stored
        ]
        return {"terms": {name: said}}
    named: Clause = _without({"term": {name: {"value": ""}}})
    if operator is Operator.EXISTS:
        return named if value else _without(named)
    if operator in (Operator.EQ, Operator.NE, Operator.IN):
        texts = [text for text in (value if operator is Operator.IN else [value]) if text and isinstance(text, str)]
        equal: Clause = {"terms": {name: texts}} if texts else NOTHING
        return _without(equal) if operator is Operator.NE else equal
    if not isinstance(value, str):
        return NOTHING
    if operator in ORDERING:
        return _all([named, {"range": {name: {operator.value: value}}}])
    if operator is Operator.ICONTAINS or len(value) > MOST_PART:
        return None
    return _all([named, _wildcard(name, "", value)])


def _tag(one: Condition) -> Clause | None:
    if one.operator is Operator.CONTAINS:
        return {"term": {TAGS: {"value": one.value}}} if isinstance(one.value, str) else NOTHING
    if one.operator is Operator.EXISTS:
        there: Clause = {"exists": {"field": TAGS}}
        return there if one.value else _without(there)
    return NOTHING if one.operator in ORDERING else None


def _wildcard(name: str, start: str, part: str) -> Clause:
    begin, within = (_SPECIAL.sub(r"\\\1", text) for text in (start, part))
    return {"wildcard": {name: {"value": f"{begin}*{within}*"}}}


def _without(clause: Clause) -> Clause:
    return {"bool": {"must_not": [clause]}}


def _all(clauses: Sequence[Clause]) -> Clause:
    return {"bool": {"filter": list(clauses)}} if clauses else _EVERYTHING


def _any(clauses: Sequence[Clause]) -> Clause:
    return {"bool": {"should": list(clauses), "minimum_should_match": 1}} if clauses else NOTHING
