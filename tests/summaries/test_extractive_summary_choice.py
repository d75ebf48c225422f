"""Which sentences an extractive summary takes where not all have room, and how they are written."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.context.model_call import EARLIER_SUMMARY, Evidence
from recollect.summaries.extractive import extractive_summary

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
CAT = "The grey cat sleeps near the window."
DOG = "The brown dog barks behind the fence."


def said(text: str, day: int = 0, role: str = "user") -> Evidence:
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
        text = extractive_summary([said(first[0], 0, first[1]), said(second[0], 1, second[1])], None, 11)
        assert better[0] in text
        assert worse[0] not in text


def test_what_more_messages_hold_counts_more() -> None:
    evidence = [said(CAT), said(DOG, 1), said("A dog, a brown dog!", 2), said("My dog barks.", 3)]
    assert DOG in extractive_summary(evidence, None, 11)


def test_a_text_fits_its_words_exactly_or_gives_way() -> None:
    assert extractive_summary([said(CAT)], None, 11) == f"User (1 May 2024): {CAT}"
    assert extractive_summary([said(CAT)], None, 10) == "The grey cat sleeps near the window."
    assert extractive_summary([said(CAT), said(DOG, 1)], None, 22).endswith(DOG)
    assert extractive_summary([said(CAT), said(DOG, 1)], None, 21).count("User (") == 1


def test_half_of_the_words_go_to_the_summary_before_and_all_where_nothing_is_new() -> None:
    old = [earlier("Anna keeps seven white hens beside her barn."), earlier("Ben repairs violins in a small workshop.")]
    both = extractive_summary([*old, said(CAT), said(DOG, 1)], None, 28)
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
    assert extractive_summary([*old, said(CAT)], None, 60) == (
        f"Zoe (2 April 2024): She sails. She swims too. Ben (3 April 2024): He cooks. User (1 May 2024): {CAT}"
    )


def test_code_and_markup_leave_no_trace_and_every_sentence_has_an_end() -> None:
    text = "Look at **this** idea\n```\nx = 1\n```\nIt makes the whole garden greener"
    assert extractive_summary([said(text)], None, 60) == (
        "User (1 May 2024): Look at this idea. It makes the whole garden greener."
    )


@pytest.mark.parametrize("end", [".", "!", "?", "。", "！", "？", "…"])
def test_an_end_is_not_written_twice(end: str) -> None:
    assert extractive_summary([said(f"The grey cat sleeps here{end}")], None, 60).endswith(f"sleeps here{end}")


def test_what_is_no_prose_is_cut_short_rather_than_left_out() -> None:
    assert extractive_summary([said("1 2 3 4"), said("5 6", 1)], None, 5) == "1 2 3 4 5"
    assert extractive_summary([], None, 5) == ""
