"""Which memories `messages` show (api.md, *Context*)."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from recollect.context.rendering import Setting, choose_relevant, lines_wanted, memory_note
from recollect.context.selection import ContextItem
from recollect.text.sentences import count_tokens

NOW = datetime(2024, 5, 15, tzinfo=UTC)
ASKED = Setting("Where do I live?")


def hit(name: str, content: str = "I moved to Lyon", score: float = 0.5, sources: tuple[str, ...] = ()) -> ContextItem:
    return ContextItem(
        id=name,
        content=content,
        timestamp=NOW - timedelta(hours=len(name)),
        importance=0.4,
        role="user",
        content_type="userinput",
        source_event_ids=sources or (name,),
        score=score,
    )


def chosen(*hits: ContextItem, setting: Setting = ASKED, tokens: int = 800) -> list[str]:
    return [one.item.id for one in choose_relevant(hits, setting, tokens, NOW)]


def test_the_best_come_first_and_are_shown_oldest_first() -> None:
    assert chosen(hit("a", score=0.9), hit("bb", score=0.8), hit("ccc", score=0.7)) == ["ccc", "bb", "a"]
    assert chosen(hit("a", score=0.9), hit("bb", score=0.8), hit("ccc", score=0.7), tokens=20) == ["bb", "a"]


def test_one_too_long_leaves_room_for_the_next() -> None:
    assert chosen(hit("a", "long " * 100), hit("bb"), tokens=40) == ["bb"]


def test_no_room_shows_nothing() -> None:
    assert chosen(hit("a"), tokens=0) == []


def test_the_input_again_is_no_memory() -> None:
    assert chosen(hit("a", "where do I live"), hit("bb", "Where do I live!"), hit("ccc")) == ["ccc"]


def test_more_or_less_than_the_input_is_a_memory() -> None:
    assert chosen(hit("a", "where do I live now"), hit("bb", "where do I")) == ["bb", "a"]


def test_own_event_raw_window_twice_found_and_what_does_not_match_are_left_out() -> None:
    setting = Setting("x", raw_window=frozenset(["raw"]), own=frozenset(["own"]))
    hits = (
        hit("own"),
        hit("raw"),
        hit("memory", sources=("raw",)),
        hit("a"),
        hit("again", sources=("a",)),
        hit("none", score=0.0),
    )
    assert chosen(*hits, setting=setting) == ["a"]


@given(st.lists(st.text(min_size=1, max_size=300), max_size=30), st.integers(0, 900))
def test_never_more_tokens_than_asked_for(texts: list[str], tokens: int) -> None:
    hits = [hit(f"e{place}", text) for place, text in enumerate(texts)]
    lines = [memory_note(one.item, NOW) for one in choose_relevant(hits, ASKED, tokens, NOW)]
    assert count_tokens("\n".join(lines)) <= tokens


def test_a_search_is_asked_for_enough_and_never_for_too_many() -> None:
    assert [lines_wanted(tokens) for tokens in (0, 1, 800, 32_000)] == [0, 1, 40, 200]
