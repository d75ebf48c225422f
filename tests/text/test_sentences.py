"""Sentences, questions, and the size of a text in tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.sentences import (
    count_tokens,
    count_words,
    first_words,
    only_asks,
    split_said_by,
    split_sentences,
    words_said,
)
from samples.steps import assert_linear


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n ", []),
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It costs 2.5 euros. Good.", ["It costs 2.5 euros.", "Good."]),
        ("Dr. Smith met Mr. J. Doe at 5 p.m. today.", ["Dr. Smith met Mr. J. Doe at 5 p.m. today."]),
        ('"Stop." She left.', ['"Stop."', "She left."]),
        ("a\nb\r\nc", ["a", "b", "c"]),
        ("我住在巴黎。我有一只狗！你呢？", ["我住在巴黎。", "我有一只狗！", "你呢？"]),
        ("1. Buy milk\n2. Go home", ["1. Buy milk", "2. Go home"]),
        ("bis zum 30. november, dann schluss. ja", ["bis zum 30. november, dann schluss.", "ja"]),
        ("am 22. Dezember fahren wir. Ja", ["am 22. Dezember fahren wir.", "Ja"]),
        ("We were 12. Then Ben came", ["We were 12.", "Then Ben came"]),
        ("We were 12. May I come?", ["We were 12.", "May I come?"]),
        ("We were 120. December came", ["We were 120.", "December came"]),
        ("it is 150. so what", ["it is 150.", "so what"]),
        ("Well… maybe. Yes", ["Well…", "maybe.", "Yes"]),
        ("no end", ["no end"]),
    ],
)
def test_sentences_end_where_they_end(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@given(st.text())
def test_no_character_that_is_seen_is_lost(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("one two", 2), ("  a\nb  c ", 3), ("我住巴黎", 4), ("I 住 in 巴黎 now", 6), ("don't stop-now", 2)],
)
def test_words_are_counted_in_any_script(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("one two three", 2, "one two"),
        ("one  two\nthree", 3, "one two three"),
        ("one two", 9, "one two"),
        ("one two", 1, "one"),
        ("one two", 0, ""),
        ("one", -1, ""),
        ("我住在巴黎", 3, "我住在"),
        ("我住在巴黎", 5, "我住在巴黎"),
        ("I 住在巴黎 now", 3, "I 住在"),
        ("I 住在 now", 3, "I 住在"),
        ("", 3, ""),
    ],
)
def test_the_beginning_has_so_many_words_at_most(text: str, most: int, expected: str) -> None:
    assert first_words(text, most) == expected


def test_speaker_and_day_are_told_from_what_was_said() -> None:
    assert split_said_by("Anna (8 May 2023): I won.") == ("Anna (8 May 2023): ", "I won.")
    assert split_said_by("Anna (my friend): I won.") is None
    assert split_said_by("I won.") is None


@pytest.mark.parametrize("noise", ["." * 100_000, "\n" * 100_000, '."' * 50_000, ". " * 50_000, "a" * 100_000])
def test_work_grows_as_noise_does(noise: str) -> None:
    assert_linear(lambda size: split_sentences(noise[:size]), len(noise) // 4)


@pytest.mark.parametrize(
    ("asks", "texts"),
    [
        (
            True,
            (
                "Where do I live?",
                "Où est-ce que j'habite ?",
                "我住在哪里？",
                "أين أسكن؟",
                "“Who was it?”",
                "Πού μένω\u037e",
            ),
        ),
        (False, ("", "I moved to Lyon", "I moved to Lyon. Any tips?", "Why? Because I said so.", "?!…")),
    ],
)
def test_a_text_only_asks_where_it_states_nothing(asks: bool, texts: tuple[str, ...]) -> None:
    assert [only_asks(text) for text in texts] == [asks] * len(texts)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("你好世界", 4), ("你好 ab", 3), ("ひらがなカタカナ", 8),
     ("한국어", 3), ("Какое", 2), ("𠀀", 1), ("👍👍", 1)],
)  # fmt: skip
def test_count(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert count_tokens(text) <= count_tokens(text + more) <= count_tokens(text) + count_tokens(more)
    assert count_tokens(text) <= len(text)


@pytest.mark.parametrize(
    ("again", "same"),
    [
        ("two lines, at most!! 🙂", True),
        ("«Two lines» at most…", True),
        ("TWO  LINES\nAT MOST", True),
        ("two lines at least", False),
        ("at most two lines", False),
    ],
)
def test_the_same_words_are_the_same_whatever_marks_are_around_them(again: str, same: bool) -> None:
    assert (words_said(again) == words_said("Two lines at most.")) is same


@pytest.mark.parametrize(("one", "other"), [("C", "C++"), ("5", "-5"), ("1.5", "15"), ("#5", "5"), ("5%", "5")])
def test_a_mark_that_says_something_is_part_of_its_word(one: str, other: str) -> None:
    assert words_said(f"I take {one}.") != words_said(f"I take {other}.")


@given(st.text())
def test_blanks_around_what_is_said_say_nothing(text: str) -> None:
    assert words_said(f" {text}\n") == words_said(text)
