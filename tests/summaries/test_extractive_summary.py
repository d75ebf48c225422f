"""Summaries and goals without a model."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.extractive_answer import NOTHING, OPENING
from recollect.context.model_call import EARLIER_SUMMARY, STORED_GOAL, Evidence
from recollect.summaries.extractive import extract_goals, extractive_summary
from recollect.text.sentences import count_words
from samples.steps import assert_linear

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def said(*texts: str, role: str = "user", speaker: str | None = None) -> list[Evidence]:
    """What somebody said, a day apart."""
    return [Evidence(f"e{n}", text, role, NOON + timedelta(days=n), speaker) for n, text in enumerate(texts)]


def test_sentences_stand_in_the_order_said_with_speaker_and_day() -> None:
    text = extractive_summary(
        said("I moved to Lyon last week.", "I adopted a grey cat there.", speaker="Anna"), None, 50
    )
    assert text == "Anna (1 May 2024): I moved to Lyon last week. Anna (2 May 2024): I adopted a grey cat there."
    assert extractive_summary(said("I moved to Lyon last week. I like it a lot."), None, 50) == (
        "User (1 May 2024): I moved to Lyon last week. I like it a lot."
    )
    assert extractive_summary(said("You moved to Lyon then", role="bot"), None, 50) == (
        "Assistant (1 May 2024): You moved to Lyon then."
    )


def test_answers_of_the_extractive_provider_are_left_out() -> None:
    evidence = [*said("I moved to Lyon last week."), *said(f"{OPENING}\n- you said: I moved.", NOTHING, role="bot")]
    assert extractive_summary(evidence, None, 50) == "User (1 May 2024): I moved to Lyon last week."
    assert extractive_summary(said(NOTHING, role="bot"), None, 50)


def test_what_repeats_is_said_once_and_small_talk_gives_way_to_facts() -> None:
    evidence = said(
        "Hi there!", "I live in Lyon with Rex.", "Wow, nice!", "I live in Lyon with Rex.", "Rex loves Lyon."
    )
    text = extractive_summary(evidence, None, 12)
    assert text.count("I live in Lyon with Rex.") == 1
    assert "Hi" not in text


def test_code_and_tables_are_left_out() -> None:
    code = (
        "I wrote this for the parser:\n```\nfor n in range(9):\n    total += n\n```\nIt works on all of my files now."
    )
    text = extractive_summary(said(code), None, 50)
    assert "range" not in text
    assert "It works on all of my files now." in text
    assert "def main" not in extractive_summary(
        said("def main(): return 1\nI am a gardener in Lyon these days."), None, 50
    )


def test_the_summary_before_is_merged_in_and_keeps_who_said_it() -> None:
    earlier = [
        Evidence("", "Anna (1 May 2024): I moved to Lyon last week.", EARLIER_SUMMARY, NOON),
        Evidence("", "I adopted a grey cat there.", EARLIER_SUMMARY, NOON),
    ]
    text = extractive_summary([*earlier, *said("I started to paint boats in June.")], None, 60)
    assert text.startswith("Anna (1 May 2024): I moved to Lyon last week. I adopted a grey cat there.")
    assert text.endswith("I started to paint boats in June.")
    assert extractive_summary(said("I paint boats in my free time."), "Anna lives in Lyon now.", 60).startswith(
        "Anna lives"
    )


@pytest.mark.parametrize("text", ["hi", "ok ok", "7", "一", "🎉", "def f(): pass", "|a|b|"])
def test_whatever_was_said_something_is_answered(text: str) -> None:
    assert extractive_summary(said(text), None, 50)


def test_chinese_is_summarised_too() -> None:
    text = extractive_summary(said("我住在里昂，有一只狗。", "我每个星期天都去划船。"), None, 40)
    assert "我住在里昂" in text
    assert count_words(text) <= 40


EVIDENCE = st.lists(
    st.builds(
        Evidence,
        st.just("e"),
        st.text(alphabet="abc deI.!?\n7跑步。 ", max_size=80),
        st.sampled_from(["user", "bot", EARLIER_SUMMARY, STORED_GOAL]),
        st.just(NOON),
        st.none() | st.just("Anna"),
    ),
    max_size=8,
)


@given(EVIDENCE, st.integers(1, 60))
def test_it_is_never_longer_than_allowed_and_always_the_same(evidence: list[Evidence], max_words: int) -> None:
    text = extractive_summary(evidence, None, max_words)
    assert count_words(text) <= max_words
    assert extractive_summary(evidence, None, max_words) == text


def test_work_grows_about_as_the_text_does() -> None:
    def summarize(count: int) -> None:
        evidence = said(*(f"I went to town number {n} and bought {n} apples for cake {n % 7}." for n in range(count)))
        extractive_summary(evidence, None, 200)

    assert_linear(summarize, 200)


@pytest.mark.parametrize("noise", ["a" * 10**6, ". " * 500_000, "```" * 300_000, "I plan to " * 100_000, "(" * 10**6])
def test_a_megabyte_of_noise_holds_no_goal(noise: str) -> None:
    assert count_words(extractive_summary(said(noise), None, 200)) <= 200
    assert len(extract_goals(said(noise))) <= 1


@pytest.mark.spec("H-03", "H-24")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I plan to meditate every day.", [("Meditate every day", "active", "every day")]),
        ("My goal is to run a marathon in Berlin.", [("Run a marathon in Berlin", "active", None)]),
        ("My new resolution is to read more, because I miss it.", [("Read more", "active", None)]),
        ("I’m training for a half marathon!", [("Training for a half marathon", "active", None)]),
        ("I want to run 3 times a week", [("Run 3 times a week", "active", "3 times a week")]),
        ("I've decided to learn Spanish.", [("Learn Spanish", "active", None)]),
        ("I want to go home.", []),
        ("I don't plan to leave.", []),
        ("Maybe I plan to leave soon.", []),
        ("Do you think I plan to leave?", []),
        ("You plan to leave.", []),
        ("I plan to run a marathon. I finished the marathon!", [("Run a marathon", "completed", None)]),
        ("I plan to run a marathon. I gave up on the marathon.", [("Run a marathon", "abandoned", None)]),
    ],
)
def test_goals_are_what_users_say_they_plan(text: str, expected: list[tuple[str, str, str | None]]) -> None:
    found = extract_goals(said(text))
    assert [(one["goal"], one["status"], one.get("check_in_frequency")) for one in found] == expected
    assert extract_goals(said(text, role="bot")) == []


def test_of_stored_goals_only_changes_are_answered() -> None:
    kept = [Evidence("g1", "Run a marathon", STORED_GOAL, NOON), Evidence("g2", "Learn Spanish", STORED_GOAL, NOON)]
    assert extract_goals([*kept, *said("I plan to run a marathon.")]) == []
    assert extract_goals([*kept, *said("I finished the marathon today!")]) == [
        {"goal": "Run a marathon", "status": "completed"}
    ]
