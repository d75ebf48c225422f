"""What every adapter asks before it stores items: bounds, one write a key, JSON alone."""

from collections.abc import Mapping
from typing import Any

import pytest

from recollect.core.errors import InvalidInput
from recollect.core.items import MOST_BYTES, MOST_BYTES_AT_ONCE, ItemKey, ItemPath, ItemWrite, checked, of_tenant
from recollect.core.scope import Scope


def write(key: str = "k", value: Mapping[str, Any] | None = None, labels: tuple[str, ...] = ()) -> ItemWrite:
    return ItemWrite(ItemKey(ItemPath("things", labels), key), value)


def of_bytes(size: int) -> dict[str, Any]:
    """A document whose JSON has that many bytes."""
    return {"a": "x" * (size - len('{"a":""}'))}


def test_the_tenants_own_items_are_no_users() -> None:
    assert of_tenant("acme") == Scope("acme", "")


def test_the_json_is_compact_and_unicode_and_a_deletion_has_none() -> None:
    assert checked([write("a", {"name": "é", "n": [1, None]}), write("b")]) == ['{"name":"é","n":[1,null]}', None]
    assert checked([]) == []


@pytest.mark.parametrize(
    "writes",
    [
        [write(str(n), {}) for n in range(25)],
        [write("k", {}), write("k", {}, labels=("l",))],
        [write("k" * 128, {})],
        [write("k", {}, labels=("l" * 128, "m"))],
        [write("k", of_bytes(MOST_BYTES))],
        [write(str(n), of_bytes(350_000)) for n in range(10)],
    ],
)
def test_what_lies_on_a_bound_is_taken(writes: list[ItemWrite]) -> None:
    assert len(checked(writes)) == len(writes)


@pytest.mark.parametrize(
    "writes",
    [
        [write(str(n), {}) for n in range(26)],
        [write("k", {}), write("k")],
        [write("k" * 129, {})],
        [write("k", {}, labels=("m", "l" * 129))],
        [write("k" * 129)],
        [write("k", of_bytes(MOST_BYTES + 1))],
        [write("k", {"a": "é" * (MOST_BYTES // 2)})],
        [write(str(n), of_bytes(350_000 + (n == 0))) for n in range(10)],
        [write("k", {"a": float("nan")})],
        [write("k", {"a": object()})],
    ],
)
def test_what_lies_beyond_is_refused_with_the_place(writes: list[ItemWrite]) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked(writes)
    assert refused.value.loc == ("items",)


def test_the_bounds_are_those_of_the_strictest_engine() -> None:
    assert (MOST_BYTES, MOST_BYTES_AT_ONCE) == (350 * 1024, 3_500_000)
