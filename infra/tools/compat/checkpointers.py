"""LangGraph's conformance suite of checkpointers against `RecollectSaver`, over a running server, as tests of pytest.

The suite's own functions, each with a saver of its own tenant; they are in a package that is installed with the suites.
Left out are those of `prune`, which our saver does not have.
"""

import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from langgraph.checkpoint.conformance.spec import (
    test_copy_thread,
    test_delete_for_runs,
    test_delete_thread,
    test_get_tuple,
    test_list,
    test_put,
    test_put_writes,
)

from recollect.integrations.langgraph import RecollectSaver

_URL = os.environ["COMPAT_URL"]
_KEYS = int(os.environ["COMPAT_KEYS"])
_numbers = itertools.count(_KEYS - 1, -1)
CASES = (
    *test_put.ALL_PUT_TESTS,
    *test_put_writes.ALL_PUT_WRITES_TESTS,
    *test_get_tuple.ALL_GET_TUPLE_TESTS,
    *test_list.ALL_LIST_TESTS,
    *test_delete_thread.ALL_DELETE_THREAD_TESTS,
    *test_copy_thread.ALL_COPY_THREAD_TESTS,
    *test_delete_for_runs.ALL_DELETE_FOR_RUNS_TESTS,
)


@pytest.fixture
async def saver() -> AsyncIterator[RecollectSaver]:
    """A saver of a tenant that no other test has."""
    opened = RecollectSaver(_URL, api_key=f"compat-{next(_numbers)}")
    yield opened
    opened.close()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_conformance(saver: RecollectSaver, case: Callable[[Any], Awaitable[None]]) -> None:
    """One test of the suite."""
    await case(saver)
