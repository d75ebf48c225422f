"""Summaries and goals without a model: which sentences are taken, and how they are written."""

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
CAT = "The grey cat sleeps near the window."
DOG = "The brown dog barks behind the fence."


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


def test_a_word_or_two_are_told_only_where_nothing_else_is() -> None:
    text = extractive_summary(said("Refusing.", "I moved to Lyon.", "Oh great."), None, 50)
    assert text == "User (2 May 2024): I moved to Lyon."
    assert extractive_summary(said("Refusing."), None, 50) == "User (1 May 2024): Refusing."


def test_code_and_tables_are_left_out() -> None:
    code = "def main(): return 1\nI am a gardener in Lyon these days."
    assert extractive_summary(said(code), None, 50) == "User (1 May 2024): I am a gardener in Lyon these days."


def test_the_summary_before_is_merged_in_and_keeps_who_said_it() -> None:
    old = [earlier("Anna (1 May 2024): I moved to Lyon last week."), earlier("I adopted a grey cat there.")]
    text = extractive_summary([*old, *said("I started to paint boats in June.")], None, 60)
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
        ("I plan to defend in June, so every plan counts.", [("Defend in June", "active", None)]),
        ("I plan to be back in July, I'll bring you something.", [("Be back in July", "active", None)]),
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


def one_said(text: str, day: int = 0, role: str = "user") -> Evidence:
    return Evidence(f"e{day}", text, role, NOON + timedelta(days=day))


def earlier(text: str) -> Evidence:
    return Evidence("s", text, EARLIER_SUMMARY, NOON)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ((CAT, "user"), (DOG, "bot")),
        ((DOG, "user"), (CAT, "bot")),
        ((CAT, "user"), ("The brown dog barks behind the fence?", "user")),
        ((CAT, "user"), ("The brown dog barks behind the fence？", "user")),
        (("My grey cat moved to Lyon.", "user"), ("That grey road leads to Rome.", "user")),
    ],
)
def test_a_users_word_counts_more_than_an_assistants_and_a_fact_more_than_a_question(
    better: tuple[str, str], worse: tuple[str, str]
) -> None:
    for first, second in ((better, worse), (worse, better)):
        text = extractive_summary([one_said(first[0], 0, first[1]), one_said(second[0], 1, second[1])], None, 11)
        assert better[0] in text
        assert worse[0] not in text


def test_what_more_messages_hold_counts_more() -> None:
    evidence = [one_said(CAT), one_said(DOG, 1), one_said("A dog, a brown dog!", 2), one_said("My dog barks.", 3)]
    assert DOG in extractive_summary(evidence, None, 11)


def test_a_text_fits_its_words_exactly_or_gives_way() -> None:
    assert extractive_summary([one_said(CAT)], None, 11) == f"User (1 May 2024): {CAT}"
    assert extractive_summary([one_said(CAT)], None, 10) == "The grey cat sleeps near the window."
    assert extractive_summary([one_said(CAT), one_said(DOG, 1)], None, 22).endswith(DOG)
    assert extractive_summary([one_said(CAT), one_said(DOG, 1)], None, 21).count("User (") == 1


def test_half_of_the_words_go_to_the_summary_before_and_all_where_nothing_is_new() -> None:
    old = [earlier("Anna keeps seven white hens beside her barn."), earlier("Ben repairs violins in a small workshop.")]
    both = extractive_summary([*old, one_said(CAT), one_said(DOG, 1)], None, 28)
    assert sum(text in both for text in ("hens", "violins")) == 1
    assert CAT in both or DOG in both
    alone = extractive_summary(old, None, 15)
    assert "hens" in alone
    assert "violins" in alone
    assert "hens" in extractive_summary([earlier("Anna keeps seven white hens beside her barn.")], None, 8)


def test_the_summary_before_stands_first_in_its_own_order() -> None:
    old = [
        earlier("Zoe (2 April 2024): She sails."),
        earlier("She swims too."),
        earlier("Ben (3 April 2024): He cooks."),
    ]
    assert extractive_summary([*old, one_said(CAT)], None, 60) == (
        f"Zoe (2 April 2024): She sails. She swims too. Ben (3 April 2024): He cooks. User (1 May 2024): {CAT}"
    )


def test_code_and_markup_leave_no_trace_and_every_sentence_has_an_end() -> None:
    text = "Look at **this** idea\n```\nx = 1\n```\nIt makes the whole garden greener"
    assert extractive_summary([one_said(text)], None, 60) == (
        "User (1 May 2024): Look at this idea. It makes the whole garden greener."
    )


@pytest.mark.parametrize("end", [".", "!", "?", "。", "！", "？", "…"])
def test_an_end_is_not_written_twice(end: str) -> None:
    assert extractive_summary([one_said(f"The grey cat sleeps here{end}")], None, 60).endswith(f"sleeps here{end}")


def test_what_is_no_prose_is_cut_short_rather_than_left_out() -> None:
    assert extractive_summary([one_said("1 2 3 4"), one_said("5 6", 1)], None, 5) == "1 2 3 4 5"
    assert extractive_summary([], None, 5) == ""
