"""The twenty correctness properties of retrieval by intent, each on the use case, over SQLite (R-81, R-82)."""

import unicodedata
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from embedded.asking import Asking, contents, draft, logged, relevance
from embedded.setting import NOON, Memory, open_memory
from recollect.intent.scoring import FallbackReason
from recollect.text.terms import STOP_WORDS
from recollect.timeline.record import EventDraft

EXAMPLES = 200
SPACES = ("Health", "Fitness", "Travel")
VOCABULARY = (
    "blood", "pressure", "Medication", "walked", "ran", "SLEEP", "Straße", "давление", "шаги", "сон", "xarajat",
    "mathématiques", "Ελλάδα", "血压", "血圧", "ضغط", "रक्तचाप", "kan",
)  # fmt: skip
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=60)

given_words = st.lists(st.sampled_from(VOCABULARY), min_size=3, max_size=6).map(" ".join)
marks = st.fixed_dictionaries(
    {"space_id": st.sampled_from([*SPACES, None]), "is_private": st.booleans(), "views": st.integers(0, 3)}
)
one_draft = st.builds(lambda text, days, more: draft(text, days, **more), given_words, st.floats(0, 30), marks)
drafts = st.lists(one_draft, max_size=8, unique_by=lambda one: (one.content, one.timestamp))


def examples(**given_values: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """At least 200 of them for each property (R-82)."""
    slow = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    enough = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=slow)
    return lambda test: enough(given(**given_values)(test))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One store for all examples; each has a user of its own."""
    opened = open_memory(tmp_path_factory.mktemp("properties"))
    yield opened
    opened.app.parts.close()


@pytest.fixture(scope="module")
def diary(memory: Memory) -> Asking:
    """A user with forty records of one kind and some others."""
    told = [draft(f"blood pressure {110 + n}/80", n / 4, space_id="Health") for n in range(40)]
    return Asking.of(memory, *told, draft("ran five miles", 1, space_id="Fitness"), draft("a secret", is_private=True))


@pytest.mark.spec("R-P1", "R-81", "R-82")
@examples(query=st.text(st.characters(categories=("L", "N")), min_size=2, max_size=40))
def test_keywords_are_extracted_in_any_language(diary: Asking, query: str) -> None:
    analysis = diary(query).analysis
    assert analysis is not None
    assert analysis.keywords


@pytest.mark.spec("R-P2", "R-81", "R-82")
@examples(
    words=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=40),
    between=st.sampled_from([" ", ", ", "-", "_", "\n", "? "]),
)
def test_all_words_are_keywords(diary: Asking, words: list[str], between: str) -> None:
    analysis = diary(between.join(words)).analysis
    assert analysis is not None
    assert analysis.keywords == tuple(word.lower() for word in words)


@pytest.mark.spec("R-P3", "R-81", "R-82")
@examples(query=ANYTHING)
def test_classification_is_deterministic(diary: Asking, query: str) -> None:
    first, second = diary(query).analysis, diary(query).analysis
    assert first is not None
    assert first == second


@pytest.mark.spec("R-P4", "R-81", "R-82")
@examples(told=drafts, query=given_words)
def test_relevance_is_bounded(memory: Memory, told: list[EventDraft], query: str) -> None:
    answer = Asking.of(memory, *told).with_rules(relevance_threshold=0, require_match=False)(query, last_days=60)
    assert len(answer.results) == min(15, sum(not one.is_private for one in told))
    assert all(0 <= score <= 1 for score in relevance(answer))


@pytest.mark.spec("R-P5", "R-81", "R-82")
@examples(told=drafts, query=given_words, threshold=st.floats(0, 1))
def test_what_is_included_reaches_the_threshold(
    memory: Memory, told: list[EventDraft], query: str, threshold: float
) -> None:
    asking = Asking.of(memory, *told)
    assert all(score >= 0.3 for score in relevance(asking(query, last_days=60)))
    assert all(score >= threshold for score in relevance(asking.with_rules(relevance_threshold=threshold)(query)))


@pytest.mark.spec("R-P6", "R-81", "R-82")
@examples(text=given_words, query=given_words, change=st.sampled_from([str.upper, str.lower, str.swapcase, str.title]))
def test_case_does_not_affect_matching(memory: Memory, text: str, query: str, change: Callable[[str], str]) -> None:
    plain, other = Asking.of(memory, draft(text)), Asking.of(memory, draft(change(text)))
    expected = relevance(plain(query))
    assert relevance(other(query)) == expected
    assert relevance(plain(change(query))) == expected


@pytest.mark.spec("R-P7", "R-81", "R-82")
@examples(word=st.sampled_from(VOCABULARY), days=st.floats(0, 13.9), around=given_words)
def test_matching_works_in_any_language(memory: Memory, word: str, days: float, around: str) -> None:
    found = Asking.of(memory, draft(f"{around} {word}", days))(f"{word} zzz qqq")
    assert found.fallback is None
    assert len(found.results) == 1


@pytest.mark.spec("R-P8", "R-81", "R-82")
@examples(
    query=st.one_of(st.just("blood pressure again?"), given_words, st.just("hi")),
    wanted=st.integers(0, 100),
    most=st.integers(0, 100),
)
def test_never_more_than_fifteen(diary: Asking, query: str, wanted: int, most: int) -> None:
    found = diary.with_rules(max_results=most)(query, wanted=wanted)
    assert len(found.results) == found.stats.records_included <= min(15, wanted, most)


@pytest.mark.spec("R-P9", "R-81", "R-82")
@examples(text=given_words, days=st.floats(0, 88), younger=st.floats(0.0001, 1))
def test_of_equal_keywords_the_newer_is_more_relevant(memory: Memory, text: str, days: float, younger: float) -> None:
    asking = Asking.of(memory, draft(text, days + younger, title="older"), draft(text, days, title="newer"))
    found = asking.with_rules(relevance_threshold=0)(text, last_days=90)
    newer, older = found.results
    assert (newer.event.title, older.event.title) == ("newer", "older")
    assert newer.ranked.score > older.ranked.score
    assert newer.ranked.signals["keyword_match"] == older.ranked.signals["keyword_match"]


@pytest.mark.spec("R-P10", "R-81", "R-82")
@examples(text=given_words, days=st.floats(0, 13), views=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_of_equal_relevance_and_day_the_more_viewed_is_first(
    memory: Memory, text: str, days: float, views: tuple[int, int]
) -> None:
    told = [draft(f"{text} {'xy'[place]}", days, views=seen) for place, seen in enumerate(views)]
    answer = Asking.of(memory, *told)(text)
    assert len(set(relevance(answer))) == 1
    assert [one.event.views for one in answer.results] == sorted(views, reverse=True)


@pytest.mark.spec("R-P11", "R-81", "R-82")
@examples(told=drafts, query=st.one_of(given_words, st.just("hi"), st.just("what is it")))
def test_no_private_record_is_answered(memory: Memory, told: list[EventDraft], query: str) -> None:
    answer = Asking.of(memory, *told).with_rules(relevance_threshold=0)(query, last_days=60)
    assert not any(one.event.is_private for one in answer.results)
    assert answer.stats.records_excluded_privacy == sum(one.is_private for one in told)


@pytest.mark.spec("R-P12", "R-81", "R-82")
@examples(told=drafts.filter(bool), query=st.one_of(given_words, st.just("hi")), nth=st.integers(0, 7))
def test_no_deleted_record_is_answered(memory: Memory, told: list[EventDraft], query: str, nth: int) -> None:
    asking = Asking.of(memory)
    ids = asking.said(*told)
    gone = ids[nth % len(ids)]
    memory.app.deletion.events.forget(asking.scope, event_id=gone, now=NOON)
    answer = asking.with_rules(relevance_threshold=0, require_match=False)(query, last_days=60)
    assert gone not in {one.event.id for one in answer.results}
    assert answer.stats.records_considered == len(told) - 1


@pytest.mark.spec("R-P13", "R-81", "R-82")
@examples(told=drafts, query=given_words)
def test_private_records_are_in_no_log(memory: Memory, told: list[EventDraft], query: str) -> None:
    asking = Asking.of(memory)
    ids = asking.said(*told)
    with logged() as lines:
        asking.with_rules(relevance_threshold=0, require_match=False)(query, last_days=60)
    private = [event_id for event_id, one in zip(ids, told, strict=True) if one.is_private]
    assert not any(event_id in str(lines) for event_id in private)
    (complete,) = [line for line in lines if line["event"] == "retrieval_complete"]
    assert complete["recordsExcludedPrivacy"] == len(private)


@pytest.mark.spec("R-P14", "R-81", "R-82")
@examples(told=drafts, query=given_words, active=st.sampled_from(SPACES))
def test_without_a_mention_only_the_active_space_is_searched(
    memory: Memory, told: list[EventDraft], query: str, active: str
) -> None:
    for asked in (query, "hi"):
        answer = Asking.of(memory, *told).with_rules(relevance_threshold=0)(asked, active, last_days=60)
        assert {one.event.space_id for one in answer.results} <= {active}
        assert not answer.crosses_spaces


@pytest.mark.spec("R-P15", "R-81", "R-82")
@examples(
    told=drafts,
    active=st.sampled_from(SPACES),
    other=st.sampled_from(SPACES),
    case=st.sampled_from([str.lower, str.upper, str]),
)
def test_a_mentioned_space_is_searched_too(
    memory: Memory, told: list[EventDraft], active: str, other: str, case: Callable[[str], str]
) -> None:
    asking = Asking.of(memory, *told, draft("something", 1, space_id=other))
    answer = asking(f"Show everything of my {case(other)} space", active, last_days=60)
    assert other in {one.event.space_id for one in answer.results}
    assert {one.event.space_id for one in answer.results} <= {active, other}
    own = asking.with_rules(allow_cross_space=False)(f"Show everything of my {case(other)} space", active, last_days=60)
    assert {one.event.space_id for one in own.results} <= {active}


@pytest.mark.spec("R-P16", "R-81", "R-82")
@examples(told=drafts, query=st.one_of(given_words, st.just("hi")), days=st.floats(0, 30))
def test_nothing_outside_of_the_dates_is_scored(
    memory: Memory, told: list[EventDraft], query: str, days: float
) -> None:
    answer = Asking.of(memory, *told).with_rules(relevance_threshold=0, require_match=False)(query, last_days=days)
    window_start = NOON - timedelta(days=days)
    inside = [one for one in told if one.timestamp is not None and one.timestamp >= window_start]
    assert answer.stats.records_considered == len(inside)
    assert all(one.event.timestamp >= window_start for one in answer.results)


@pytest.mark.spec("R-P17", "R-81", "R-82")
@examples(words=st.lists(st.sampled_from(VOCABULARY), max_size=2), noise=st.sampled_from(["", " !", " ??", " - -"]))
def test_fewer_than_three_words_are_answered_by_date(diary: Asking, words: list[str], noise: str) -> None:
    answer = diary(" ".join(words) + noise)
    assert answer.fallback is (FallbackReason.SHORT_QUERY if words else FallbackReason.NO_KEYWORDS)
    times = [one.event.timestamp for one in answer.results]
    assert times == sorted(times, reverse=True)
    assert len(times) == 15


@pytest.mark.spec("R-P18", "R-81", "R-82")
@examples(
    words=st.lists(
        st.sampled_from(sorted(w for w in STOP_WORDS if len(w.encode()) > 1 and w.isalpha())), min_size=3, max_size=8
    )
)
def test_stop_words_alone_are_answered_by_date(diary: Asking, words: list[str]) -> None:
    assert diary(" ".join(words)).fallback is FallbackReason.STOP_WORDS_ONLY


@pytest.mark.spec("R-P19", "R-81", "R-82")
@examples(
    query=st.one_of(st.none(), ANYTHING), history=st.lists(ANYTHING, max_size=3), active=st.one_of(st.none(), st.text())
)
def test_no_text_raises(diary: Asking, query: str | None, history: list[str], active: str | None) -> None:
    answer = diary(query, active, history)
    assert answer.fallback is not FallbackReason.ERROR
    assert answer.analysis is not None


@pytest.mark.spec("R-P19")
@pytest.mark.parametrize("query", ["blood " * 200_000, "血" * 300_000, "😀" * 250_000, "last week " * 100_000])
def test_a_megabyte(diary: Asking, query: str) -> None:
    assert diary(query).fallback is not FallbackReason.ERROR


@pytest.mark.spec("R-P20", "R-81", "R-82")
@examples(history=st.lists(given_words, min_size=2, max_size=6), lookback=st.integers(0, 9))
def test_at_most_two_messages_back(diary: Asking, history: list[str], lookback: int) -> None:
    asking = diary.with_rules(context_lookback=lookback)
    whole, recent = asking("and is it still high", None, history), asking("and is it still high", None, history[-2:])
    assert whole.analysis == recent.analysis
    assert contents(whole) == contents(recent)
    read = whole.analysis.context.messages if whole.analysis and whole.analysis.context else 0
    assert read == min(2, lookback)


def test_the_vocabulary_is_of_words_of_several_scripts() -> None:
    assert len({unicodedata.name(word[0]).split()[0] for word in VOCABULARY}) >= 5
