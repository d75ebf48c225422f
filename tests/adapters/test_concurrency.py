"""Concurrency: results, failures, the caller's context, and no call that waits for itself."""

import threading
from contextvars import ContextVar

import pytest

from recollect.adapters.concurrency import Inline, Threads
from recollect.core.errors import Throttled
from recollect.ports import Concurrency

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


def test_calls_are_made_side_by_side() -> None:
    threads: Concurrency = Threads(4)
    meeting = threading.Barrier(4, timeout=10)
    assert sorted(one.result() for one in [threads.submit(meeting.wait) for _ in range(4)]) == [0, 1, 2, 3]


def test_inline_makes_a_call_at_submit() -> None:
    made: list[int] = []

    def call() -> str:
        made.append(1)
        return "answer"

    pending = Inline().submit(call)
    assert made == [1]
    assert (pending.result(), pending.result(), made) == ("answer", "answer", [1])


def test_in_process_an_encoding_runs_beside_its_caller() -> None:
    meeting = threading.Barrier(2, timeout=10)
    pending = Inline().beside(meeting.wait)
    assert {meeting.wait(), pending.result()} == {0, 1}


def test_where_reads_run_side_by_side_an_encoding_is_over_before_them() -> None:
    made: list[int] = []
    pending = Threads().beside(lambda: made.append(threading.get_ident()))
    assert made == [threading.get_ident()]
    assert pending.result() is None


@pytest.mark.parametrize("concurrency", [Threads(), Inline()])
def test_the_result_raises_what_the_call_raised(concurrency: Concurrency) -> None:
    def fail() -> None:
        raise Throttled("slow down")

    for begin in (concurrency.submit, concurrency.beside):
        pending = begin(fail)
        with pytest.raises(Throttled):
            pending.result()


@pytest.mark.parametrize("concurrency", [Threads(), Inline()])
def test_calls_see_the_callers_context(concurrency: Concurrency) -> None:
    token = WHO.set("somebody")
    try:
        assert concurrency.submit(WHO.get).result() == "somebody"
        assert concurrency.beside(WHO.get).result() == "somebody"
    finally:
        WHO.reset(token)


def test_a_call_may_submit_calls_though_the_pool_is_full() -> None:
    threads = Threads(1)

    def outer(depth: int) -> int:
        return depth if depth == 0 else threads.submit(lambda: outer(depth - 1)).result() + 1

    def failing() -> None:
        with pytest.raises(Throttled):
            threads.submit(fail).result()

    def fail() -> None:
        raise Throttled("slow down")

    assert threads.submit(lambda: outer(5)).result() == 5
    threads.submit(failing).result()
