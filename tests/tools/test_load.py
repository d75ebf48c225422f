"""The load test: its bounds, what it asks, its figures, and a tiny run against the laptop's server."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, cast

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.cli.running import Home, serving
from infra.tools.load.__main__ import main
from infra.tools.load.bounds import LARGEST, Bounds, OutOfBounds
from infra.tools.load.loopback import target
from infra.tools.load.measured import Answered, Backlog, lines, percentile
from infra.tools.load.mix import SHARES, asked, user_name
from infra.tools.load.run import Server, backlog, load

SMALL = {"rate_per_second": 10, "seconds": 1, "users": 2, "concurrency": 2, "patience_seconds": 60}
OPTIONS = ["--rate", "--seconds", "--users", "--concurrency", "--patience"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(Home(tmp_path_factory.mktemp("home")).environment()) as (address, _):
        yield f"http://{address}"


@pytest.mark.parametrize("name", LARGEST)
def test_every_number_has_a_smallest_and_a_largest_value(name: str) -> None:
    for value in (1, LARGEST[name]):
        assert getattr(Bounds(**{**SMALL, name: value}), name) == value
    for value in (-1, 0, LARGEST[name] + 1):
        with pytest.raises(OutOfBounds, match=rf"{name} is {value}; it may be 1 to {LARGEST[name]}"):
            Bounds(**{**SMALL, name: value})


@given(st.fixed_dictionaries({name: st.integers() for name in LARGEST}))
def test_no_run_is_larger_than_all_of_its_bounds(numbers: dict[str, int]) -> None:
    try:
        bounds = Bounds(**numbers)
    except OutOfBounds:
        assert any(not 1 <= value <= LARGEST[name] for name, value in numbers.items())
    else:
        assert bounds.requests <= LARGEST["rate_per_second"] * LARGEST["seconds"] == 60_000


@pytest.mark.parametrize("option", OPTIONS)
def test_the_command_refuses_what_is_too_much_before_it_sends_anything(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([option, "100000", "--url", "http://127.0.0.1:9"]) == 2
    assert "it may be 1 to" in capsys.readouterr().err


def test_it_asks_messages_searches_and_contexts_of_all_users_in_their_shares() -> None:
    given = list(asked("run", 5, 5000, seed=1))
    counted = Counter(one.kind for one in given)
    for kind, share in SHARES.items():
        assert counted[kind] / 5000 == pytest.approx(share / sum(SHARES.values()), abs=0.03)
    assert {one.body["user_id"] for one in given} == {user_name("run", number) for number in range(5)}
    assert len({one.body["events"][0]["content"] for one in given if one.kind == "message"}) == counted["message"]


@given(st.integers(), st.integers(1, 100), st.integers(0, 50))
def test_the_same_seed_asks_the_same(seed: int, users: int, count: int) -> None:
    given = list(asked("run", users, count, seed))
    assert given == list(asked("run", users, count, seed))
    assert len(given) == count


@given(st.lists(st.floats(0, 100), min_size=1), st.integers(1, 100))
def test_a_percentile_is_a_value_that_so_many_do_not_exceed(values: list[float], percent: int) -> None:
    found = percentile(values, percent)
    assert found in values
    assert sum(one <= found for one in values) * 100 >= percent * len(values)
    assert sum(one < found for one in values) * 100 < percent * len(values)


def test_the_median_and_the_extremes() -> None:
    assert percentile([3.0, 1.0, 2.0], 50) == median([1, 2, 3])
    assert percentile([*map(float, range(1, 101))], 99) == 99
    assert percentile([7.0], 99) == 7
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_the_report_says_times_by_kind_errors_by_status_and_the_backlog() -> None:
    answered = [
        *(Answered("message", "201", seconds / 1000) for seconds in range(1, 101)),
        Answered("message", "429", 0.001),
        Answered("search", "ConnectionRefusedError", 0.002),
        Answered("search", "503", 0.003),
    ]
    assert lines(answered, 10.3, Backlog(42, 1.25, 0)) == [
        "103 requests in 10.3 s, 10.0 a second",
        "message     100 answered  p50 50 ms  p95 95 ms  p99 99 ms",
        "search        0 answered  no answer",
        "error 429 1 times (message)",
        "error 503 1 times (search)",
        "error ConnectionRefusedError 1 times (search)",
        "backlog 42 events when the load ended, projected 1.2 s later",
    ]
    assert lines(answered[:1], 0.0, Backlog(42, 60.0, 7))[-2:] == [
        "no errors",
        "backlog 42 events when the load ended, 7 still not projected 60.0 s later",
    ]


def test_a_tiny_load_on_the_laptops_server(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--rate", "10", "--seconds", "2", "--users", "3", "--concurrency", "4"]
    assert main(["--url", address, *options]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    head, *kinds, errors, waited = printed.out.splitlines()
    assert head.startswith("20 requests in ")
    figures = [re.fullmatch(r"(\w+) +(\d+) answered  p50 \d+ ms  p95 \d+ ms  p99 \d+ ms", one) for one in kinds]
    assert {one[1] for one in figures if one} == set(SHARES)
    assert sum(int(one[2]) for one in figures if one) == 20
    assert errors == "no errors"
    assert re.fullmatch(r"backlog \d+ events when the load ended, projected \d+\.\d s later", waited)


def test_it_keeps_to_its_rate_and_leaves_no_user_behind(address: str) -> None:
    server = Server(target(address))
    answered, seconds = load(server, Bounds(**SMALL), "kept", seed=1)
    assert (len(answered), {one.outcome for one in answered}) == (10, {"200", "201"})
    assert seconds >= 0.9, "the tenth request is due after nine tenths"
    assert backlog(server, 60).left == 0
    assert httpx.get(f"{address}/v1/users/kept/events").json()["events"] == []


@dataclass
class _Ready:
    """A server whose projection catches up, poll by poll."""

    pending: list[int]

    def call(self, _method: str, path: str, _body: Any = None) -> tuple[int, bytes]:
        assert path == "/v1/ready"
        return 200, json.dumps({"parts": {"timeline": {"pending": self.pending.pop(0)}}}).encode()


def test_the_backlog_is_what_waited_at_first_and_how_long_some_of_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    monkeypatch.setattr("infra.tools.load.run.time", clock)
    assert backlog(cast(Server, _Ready([7, 3, 1, 0])), 60) == Backlog(7, 0.6, 0)
    assert backlog(cast(Server, _Ready([7, 5, 4, 3, 2, 1])), 0.5) == Backlog(7, 0.6, 3)
    assert backlog(cast(Server, _Ready([0])), 60) == Backlog(0, 0.0, 0)


@dataclass
class _Clock:
    """Time that passes by sleeping alone."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now = round(self.now + seconds, 3)


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"parts": {"timeline": {}}}', b"no JSON"])
def test_a_server_that_does_not_say_what_waits_is_told_from_one_where_nothing_does(body: bytes) -> None:
    class Silent:
        def call(self, *_: Any) -> tuple[int, bytes]:
            return 503, body

    with pytest.raises(ValueError):
        backlog(cast(Server, Silent()), 60)


def test_users_are_erased_whatever_came_of_the_run(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.tools.load.__main__.uuid.uuid4", lambda: _Named("gone"))
    monkeypatch.setattr("infra.tools.load.__main__.backlog", _no_answer)
    assert main(["--url", address, "--rate", "10", "--seconds", "1", "--users", "2"]) == 1
    for number in range(2):
        assert httpx.get(f"{address}/v1/users/{user_name('gone', number)}/events").json()["events"] == []


class _Named:
    def __init__(self, name: str) -> None:
        self.hex = name


def _no_answer(*_: Any) -> Backlog:
    raise ValueError("no answer")


def test_where_nobody_listens_nothing_was_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--url", "http://127.0.0.1:9"]) == 2
    assert "nothing was sent: " in capsys.readouterr().err
