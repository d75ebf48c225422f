"""A batch is read around what cannot be read, in few reads (R-71)."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import StoredDataError, Unavailable
from recollect.retrieval.hydrate import read_around


class Store:
    """Reads ids of which some are spoiled; counts the reads."""

    def __init__(self, spoiled: set[str]) -> None:
        self.spoiled = spoiled
        self.reads = 0

    def __call__(self, ids: Sequence[str]) -> dict[str, str]:
        self.reads += 1
        if self.spoiled & set(ids):
            raise StoredDataError("spoiled")
        return {one: one for one in ids}


@pytest.mark.spec("R-71")
@given(st.lists(st.integers(0, 99), unique=True), st.sets(st.integers(0, 99)))
def test_all_is_read_but_what_cannot_be(numbers: list[int], spoiled: set[int]) -> None:
    ids, unreadable = [str(n) for n in numbers], set[str]()
    store = Store({str(n) for n in spoiled})
    found = read_around(store, ids, unreadable)
    assert list(found) == [one for one in ids if one not in store.spoiled]
    assert unreadable == store.spoiled & set(ids)
    assert store.reads <= 1 + 2 * len(unreadable) * len(ids).bit_length()


def test_other_errors_are_not_passed_over() -> None:
    def read(_ids: Sequence[str]) -> dict[str, str]:
        raise Unavailable("not now")

    with pytest.raises(Unavailable):
        read_around(read, ["a", "b"], set())
