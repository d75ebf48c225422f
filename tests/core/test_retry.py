"""Work that lost against another writer is tried again, so often and no more."""

import pytest

from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.idempotency import TRIES, retry_on_conflict


class Losing:
    """Loses so many times, and then succeeds."""

    def __init__(self, losses: int) -> None:
        self.losses, self.calls = losses, 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.losses:
            raise VersionMismatch("somebody was faster")
        return "done"


@pytest.mark.parametrize("losses", [0, 1, TRIES - 1])
def test_it_is_tried_until_it_succeeds(losses: int) -> None:
    work = Losing(losses)
    assert (retry_on_conflict(work, "a goal"), work.calls) == ("done", losses + 1)


def test_after_so_many_tries_it_is_a_conflict_that_names_the_thing() -> None:
    work = Losing(3)
    with pytest.raises(Conflict, match="a goal changes all the time"):
        retry_on_conflict(work, "a goal", tries=3)
    assert work.calls == 3


def test_another_error_is_no_reason_to_try_again() -> None:
    calls = []

    def work() -> None:
        calls.append(1)
        raise NotFound("no goal")

    with pytest.raises(NotFound):
        retry_on_conflict(work, "a goal")
    assert calls == [1]
