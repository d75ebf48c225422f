"""Documents and filters for properties: few names and values, so that they meet."""

from typing import Any

from hypothesis import strategies as st

from recollect.core.filter import AllOf, AnyOf, Condition, Filter, Not, Operator

NAMES = st.sampled_from(["a", "b", "é-1", "0"])
TEXTS = st.sampled_from(
    ["", "a", "A", "ab", "b", "ß", "SS", "\x00", "a\x00b", "\\u0000", "🙂", "\uffff", "1", "null", "true"]
)
NUMBERS = st.one_of(
    st.integers(-2, 2),
    st.sampled_from([2**53, 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 10**30, 10**400, 0.1, 0.5, 1.0, -2.0, 1e300, 1e-7]),
    st.floats(-1e9, 1e9, allow_nan=False).map(lambda number: round(number, 6)),
)
SCALARS: st.SearchStrategy[Any] = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
DOCUMENTS = st.dictionaries(NAMES, VALUES, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map(tuple)


def _of(operator: Operator) -> st.SearchStrategy[Any]:
    if operator is Operator.EXISTS:
        return st.booleans()
    if operator is Operator.IN:
        return st.lists(VALUES, max_size=3)
    return TEXTS if operator is Operator.ICONTAINS else VALUES


CONDITIONS: st.SearchStrategy[Filter] = st.sampled_from(list(Operator)).flatmap(
    lambda operator: st.builds(Condition, PATHS, st.just(operator), _of(operator))
)


def filters_of(conditions: st.SearchStrategy[Filter], max_leaves: int) -> st.SearchStrategy[Filter]:
    """Conditions joined and denied in every way."""
    return st.recursive(
        conditions,
        lambda inner: st.one_of(
            inner.map(Not),
            st.lists(inner, max_size=3).map(lambda some: AllOf(tuple(some))),
            st.lists(inner, max_size=3).map(lambda some: AnyOf(tuple(some))),
        ),
        max_leaves=max_leaves,
    )


FILTERS = filters_of(CONDITIONS, 5)
