"""The web search of an input: beside the reads, for two seconds at most, and never in the way of the answer."""

import threading
import time
from dataclasses import dataclass, field

import pytest

from embedded.setting import Memory, with_parts
from embedded.turning import talk
from recollect.context.build import LONGEST_QUERY, LONGEST_RESULT, MOST_RESULTS, SECONDS, LookUp
from recollect.context.rendering import WEB_PREFIX
from recollect.core.errors import OutOfTime, Unavailable, UpstreamFailed
from recollect.rules.groups import Rules
from recollect.rules.importance import extract_tags

NEWS = "What is the latest news?"


@dataclass
class ScriptedSearch:
    """Finds these texts after so many seconds, or raises; keeps what it was asked."""

    finds: tuple[str, ...] | Exception = ("Rain in Lyon",)
    after_seconds: float = 0.0
    asked: list[tuple[str, float]] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def search(self, query: str, seconds: float) -> tuple[str, ...]:
        self.asked.append((query, seconds))
        self.ended.wait(self.after_seconds)
        if isinstance(self.finds, Exception):
            raise self.finds
        return self.finds


@pytest.mark.spec("K-26", "K-27", "K-28", "K-76", "K-102")
def test_results_come_first_in_the_prompt_and_as_fenced_data_in_the_messages(memory: Memory) -> None:
    memory.add("I live in Lyon")
    web = ScriptedSearch(("Rain in Lyon", "Sun in\nNice"))
    answer = with_parts(memory, web_search=web).context(NEWS)
    assert answer.prompt.text.splitlines()[:5] == [
        WEB_PREFIX, "Rain in Lyon", "Sun in Nice", "", "Here's some relevant context from our previous conversations:",
    ]  # fmt: skip
    _, _, block = answer.messages.messages[0].content.partition("Current results of a web search:\n")
    assert block.splitlines()[1:-1] == ["Rain in Lyon", "Sun in Nice"]
    assert (answer.web_search.triggered, answer.web_search.keywords) == (True, ("news", "latest"))
    assert (answer.web_search.results, answer.web_search.failed) == (("Rain in Lyon", "Sun in Nice"), False)
    assert web.asked == [(NEWS, SECONDS)]


@pytest.mark.spec("K-29", "K-83", "K-92")
@pytest.mark.parametrize(
    "failure", [Unavailable("away"), OutOfTime("slow"), UpstreamFailed("odd"), ValueError("a defect")]
)
def test_a_search_that_fails_leaves_no_block_and_is_said(memory: Memory, failure: Exception) -> None:
    memory.add("I live in Lyon")
    answer = with_parts(memory, web_search=ScriptedSearch(failure)).context(NEWS)
    assert answer.prompt.text.startswith("Here's some relevant context")
    assert all("web search" not in message.content for message in answer.messages.messages)
    assert (answer.web_search.triggered, answer.web_search.failed, answer.web_search.results) == (True, True, ())
    assert answer.missing == ("web_search",)


@pytest.mark.spec("K-29")
def test_nothing_found_is_no_failure_and_no_block(memory: Memory) -> None:
    answer = with_parts(memory, web_search=ScriptedSearch(("", " \n "))).context(NEWS)
    assert answer.prompt.text == f"Current user input: {NEWS}"
    assert (answer.web_search.failed, answer.missing) == (False, ())


def test_a_slow_search_is_not_waited_for() -> None:
    web = ScriptedSearch(after_seconds=30.0)
    looking, began = LookUp(web, NEWS, "auto", seconds=0.1), time.monotonic()
    looking.begin(Rules())
    assert looking.result().failed
    assert time.monotonic() - began < 5
    web.ended.set()


def test_it_runs_beside_what_else_is_done() -> None:
    web = ScriptedSearch(after_seconds=30.0)
    looking = LookUp(web, NEWS, "auto", seconds=10.0)
    looking.begin(Rules())
    web.ended.set()
    assert looking.result().results == ("Rain in Lyon",)


@pytest.mark.spec("K-42")
@pytest.mark.parametrize(
    ("text", "wish", "searched"),
    [(NEWS, "auto", True), (NEWS, "never", False), ("I like tea", "auto", False), ("I like tea", "always", True)],
)
def test_the_rule_decides_unless_the_caller_does(memory: Memory, text: str, wish: str, searched: bool) -> None:
    web = ScriptedSearch()
    answer = with_parts(memory, web_search=web).context(text, web_search=wish)
    assert (answer.web_search.searched, len(web.asked)) == (searched, int(searched))
    assert ("Rain in Lyon" in answer.prompt.text) == searched


@pytest.mark.spec("K-100")
def test_tags_have_no_say_in_it(memory: Memory) -> None:
    text = "Hello, I always like the weather, the calendar and my job"
    assert len(extract_tags(text, Rules())) >= 5
    assert not with_parts(memory, web_search=ScriptedSearch()).context(text).web_search.triggered


def test_how_much_goes_out_and_comes_in_is_bounded() -> None:
    web = ScriptedSearch(tuple(f"{n} " + "x" * 10_000 for n in range(100)))
    looking = LookUp(web, "news " + "y" * 10_000, "auto")
    looking.begin(Rules())
    results = looking.result().results
    assert len(results) == MOST_RESULTS
    assert all(len(result) <= LONGEST_RESULT for result in results)
    assert len(web.asked[0][0]) <= LONGEST_QUERY


@pytest.mark.spec("K-76", "K-77", "K-92")
def test_a_turn_searches_and_goes_on_without(memory: Memory) -> None:
    session = talk(memory, "Rain.", web_search=ScriptedSearch())
    answer = session.say("Will it rain today?")
    assert "Rain in Lyon" in "\n".join(message.content for message in session.model.asked[0].messages)
    broken = talk(memory, "No idea.", web_search=ScriptedSearch(Unavailable("away")))
    assert broken.say("Will it rain today?").response == "No idea."
    assert answer.context is not None
    assert [event.content for event in broken.stored()][-2:] == ["Will it rain today?", "No idea."]
