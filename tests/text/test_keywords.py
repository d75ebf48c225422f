"""The keyword extractor (R-12 to R-18, P-6) and the stop list."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.text.terms import (
    BY_LANGUAGE,
    ENGLISH_STOP_WORDS,
    STOP_WORDS,
    extract_keywords,
    is_stop_word,
    query_words,
    split_words,
)
from samples.steps import assert_linear


@pytest.mark.spec("P-6")
@pytest.mark.spec("R-17", "R-14", "R-15", "R-16")
@pytest.mark.parametrize(
    ("query", "keywords"),
    [
        ("What is my blood pressure?", ["what", "is", "my", "blood", "pressure"]),
        ("Какое у меня давление?", ["какое", "у", "меня", "давление"]),
        ("Show my expenses this month", ["show", "my", "expenses", "this", "month"]),
        ("Mening xarajatlarim?", ["mening", "xarajatlarim"]),
        ("What did I study yesterday?", ["what", "did", "study", "yesterday"]),
        ("Mes notes de mathématiques?", ["mes", "notes", "de", "mathématiques"]),
        ("Where did I go last week?", ["where", "did", "go", "last", "week"]),
        ("Куда я ездил?", ["куда", "я", "ездил"]),
    ],
)
def test_the_examples_of_the_document(query: str, keywords: list[str]) -> None:
    assert list(extract_keywords(query)) == keywords


@pytest.mark.spec("R-12", "R-13", "R-77")
@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("", []),
        ("   \n\t", []),
        ("snake_case-and/slash", ["snake", "case", "and", "slash"]),
        ("5.5 mmol/L 120/80", ["mmol", "120", "80"]),
        ("a I 7 x", []),
        ("é 7é", ["é", "7é"]),
        ("İstanbul", ["i̇stanbul"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("मेरा रक्तचाप क्या है?", ["मेरा", "रक्तचाप", "क्या", "है"]),
        ("我的血压，是多少？", ["我的血压", "是多少"]),
        ("no no no", ["no", "no", "no"]),
        ("running runs the", ["running", "runs", "the"]),
    ],
)
def test_split_lower_keep(text: str, keywords: list[str]) -> None:
    assert list(extract_keywords(text)) == keywords


@pytest.mark.spec("R-64")
@pytest.mark.parametrize("text", ["🎉🎉", "❤️", "👨‍👩‍👧 👍🏽", "!!! ... ---", "🇫🇷", "\ud83d\ud83d", "\x00\x01", "☎️✈️"])
def test_symbols_and_emoji_are_no_keywords(text: str) -> None:
    assert extract_keywords(text) == ()


@pytest.mark.spec("R-P1", "R-P2", "R-P19")
@settings(max_examples=200)
@given(st.text(st.characters()))
def test_all_words_of_two_bytes_are_keywords_in_any_language(text: str) -> None:
    words = "".join(c if unicodedata.category(c)[0] in "LN" else " " for c in text if unicodedata.category(c)[0] != "M")
    expected = words.lower().split()
    found = "".join(c for w in split_words(text) for c in w if unicodedata.category(c)[0] != "M")
    assert found.lower() == "".join(expected)
    assert all(len(k.encode()) >= 2 for k in extract_keywords(text))


@pytest.mark.spec("R-P2")
@given(
    st.lists(st.text(st.sampled_from("abcABCéßяЖ你ال9"), min_size=2), max_size=300),
    st.sampled_from([" ", ", ", "\n", "—"]),
)
def test_the_extractor_keeps_every_word_and_never_caps(words: list[str], separator: str) -> None:
    assert list(extract_keywords(separator.join(words))) == [word.lower() for word in words]


@pytest.mark.spec("R-P6")
@given(st.text(st.sampled_from("abz éя 9,.")))
def test_case_makes_no_difference(text: str) -> None:
    assert extract_keywords(text.upper()) == extract_keywords(text.lower())


@pytest.mark.spec("R-P19")
@pytest.mark.parametrize("text", ["a" * 1_000_000, "é, " * 333_000, "\ud800" * 1_000_000, "слово " * 160_000])
def test_a_megabyte(text: str) -> None:
    assert all(extract_keywords(text))


@pytest.mark.parametrize("unit", ["a", "é, ", "слово "])
def test_work_grows_as_the_text_does(unit: str) -> None:
    assert_linear(lambda size: extract_keywords(unit * size), 2_000)


@pytest.mark.spec("R-P17")
@pytest.mark.parametrize(
    ("query", "count"), [("", 0), ("a I 7", 3), ("hi !!! there", 2), ("what's up?", 2), ("— …", 0)]
)
def test_query_words_are_counted_raw(query: str, count: int) -> None:
    assert len(query_words(query)) == count


@pytest.mark.spec("R-P18", "R-18")
def test_stop_words_of_many_languages() -> None:
    assert all(is_stop_word(word) for word in ("the", "What", "меня", "les", "und", "mening", "क्या", "什么", "nerede"))
    content = ("blood", "давление", "notes", "xarajatlarim", "son", "AI", "ham", "Kim", "Ben", "EU", "men", "soy")
    assert not any(is_stop_word(word) for word in content)
    assert BY_LANGUAGE["en"] == ENGLISH_STOP_WORDS < STOP_WORDS
    assert all(word == word.lower() for word in STOP_WORDS)


@pytest.mark.parametrize("language", sorted(BY_LANGUAGE))
def test_stop_words_are_words_to_the_extractor(language: str) -> None:
    for word in BY_LANGUAGE[language]:
        assert list(split_words(word)) == [word]
