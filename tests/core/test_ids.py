"""UUIDv7 ids: monotonic by arrival and position, the same again from the same seed."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from recollect.core.ids import IdSeed, IdSource, id_milliseconds, trace_of


def test_ids_are_version_7_of_rfc_9562() -> None:
    made = UUID(IdSource().seed(1_700_000_000_000).nth(0))
    assert made.version == 7
    assert made.variant == "specified in RFC 4122"
    assert id_milliseconds(str(made)) == 1_700_000_000_000


@given(st.lists(st.tuples(st.integers(0, 2**45), st.integers(1, 101)), min_size=2, max_size=20))
def test_ids_never_go_back_whatever_the_clock_does(requests: list[tuple[int, int]]) -> None:
    source = IdSource()
    made: list[str] = []
    for clock_milliseconds, count in requests:
        seed = source.seed(clock_milliseconds, count)
        made += [seed.nth(position) for position in range(count)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_the_counter_carries_into_the_milliseconds() -> None:
    seed = IdSeed((1_000 << 12) + 4_095, 7)
    assert seed.nth(0) < seed.nth(1)
    assert id_milliseconds(seed.nth(1)) == 1_001


def test_a_seed_survives_its_record() -> None:
    seed = IdSource().seed(1_700_000_000_000, 3)
    assert [IdSeed.decode(seed.encode()).nth(i) for i in range(3)] == [seed.nth(i) for i in range(3)]


@given(tail=st.integers(0, 2**62 - 1), position=st.integers(0, 10_000))
def test_every_id_of_a_request_has_its_trace(tail: int, position: int) -> None:
    seed = IdSeed(1_700_000_000_000 << 12, tail)
    assert trace_of(seed.nth(position)) == seed.trace == f"{tail:016x}"


def test_a_client_s_id_has_no_trace() -> None:
    assert trace_of("monday") is None
