"""Keywords, stems, terms and BM25."""

import math
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.text.terms import (
    BY_LANGUAGE,
    ENGLISH_STOP_WORDS,
    MAX_TERM_CHARACTERS,
    STOP_WORDS,
    TermStatistics,
    bm25,
    extract_keywords,
    inverse_document_frequency,
    is_stop_word,
    query_terms,
    query_words,
    split_words,
    stem,
    terms,
)
from samples.steps import assert_linear


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
@pytest.mark.parametrize("unit", ["a", "é, ", "слово ", "\ud800"])
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went running with the dogs", ["went", "run", "dog"]),
        ("Caroline's café", ["carolin", "café"]),
        ("", []),
        ("the of and", []),
        ("我喜欢看电影", ["我喜", "喜欢", "欢看", "看电", "电影"]),
        ("iPhone用户", ["iphon", "用户"]),
        ("漢abc字x", ["漢", "abc", "字", "x"]),
        ("iphone用户群体x", ["iphon", "用户", "户群", "群体", "x"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
    ],
)
def test_the_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@given(st.text(max_size=300))
def test_terms_of_any_text_are_short_and_stand_alone(text: str) -> None:
    for term in terms(text):
        assert 0 < len(term) <= MAX_TERM_CHARACTERS
        assert not any(character.isspace() for character in term)


def test_a_query_has_each_term_once_and_not_too_many() -> None:
    assert query_terms("run, running runs") == ("run",)
    assert len(query_terms(" ".join(f"word{i}" for i in range(500)))) == 64


def statistics(*documents: str) -> TermStatistics:
    counted = [Counter(terms(document)) for document in documents]
    frequency = Counter(term for document in counted for term in document)
    return TermStatistics(len(counted), sum(d.total() for d in counted), frequency)


def scored(query: str, document: str, known: TermStatistics) -> float:
    counts = Counter(terms(document))
    return bm25(known, counts, counts.total(), query_terms(query))


def test_bm25_is_the_formula() -> None:
    known = TermStatistics(10, 100, {"dog": 2})
    idf = math.log(1 + (10 - 2 + 0.5) / 2.5)
    assert bm25(known, {"dog": 3}, 10, ["dog"]) == pytest.approx(idf * 3 * 2.2 / (3 + 1.2))


def test_rare_terms_weigh_more_and_long_documents_less() -> None:
    known = statistics("dog park", "dog bone", "dog cat", "sunrise painting")
    assert scored("sunrise", "sunrise painting", known) > scored("dog", "dog park", known) > 0
    assert scored("dog", "dog", known) > scored("dog", "dog " + "filler " * 20, known)
    assert scored("whale", "dog park", known) == 0


def test_an_empty_scope_scores_without_error() -> None:
    empty = TermStatistics(0, 0, {})
    assert inverse_document_frequency(empty, "x") > 0
    assert bm25(empty, {"x": 1}, 1, ["x"]) > 0


STEPS = {
    "1a": "caresses caress ponies poni ties ti caress caress cats cat",
    "1b": "feed feed agreed agre plastered plaster bled bled motoring motor sing sing",
    "1b, restored": (
        "conflated conflat troubled troubl sized size hopping hop tanned tan falling fall hissing hiss fizzed fizz"
        " failing fail filing file fixing fix boxed box snowed snow played plai lying ly"
    ),
    "1c": "happy happi sky sky by by cry cry enjoy enjoi",
    "2": (
        "relational relat conditional condit rational ration valenci valenc hesitanci hesit digitizer digit"
        " conformabli conform radicalli radic differentli differ vileli vile analogousli analog"
        " vietnamization vietnam predication predic operator oper feudalism feudal decisiveness decis"
        " hopefulness hope callousness callous formaliti formal sensitiviti sensit sensibiliti sensibl"
    ),
    "3": (
        "triplicate triplic formative form formalize formal electriciti electr electrical electr hopeful hope"
        " goodness good"
    ),
    "4": (
        "revival reviv allowance allow inference infer airliner airlin gyroscopic gyroscop adjustable adjust"
        " defensible defens irritant irrit replacement replac adjustment adjust dependent depend adoption adopt"
        " homologou homolog communism commun activate activ angulariti angular homologous homolog effective effect"
        " bowdlerize bowdler champion champion"
    ),
    "5": "controlling control probate probat rate rate cease ceas controll control roll roll",
    "1b, then 4": "activated activ digitized digit agitating agit organizing organ adjustabled adjust",
    "letters": (
        "a a it it is is us us mp3s mp3s naïve naïve b2b b2b don't don't syzygy syzygi yes ye oxen oxen queue queue"
    ),
}


@pytest.mark.parametrize(("step", "pairs"), STEPS.items())
def test_stems_are_porters_own(step: str, pairs: str) -> None:
    words = pairs.split()
    for word, expected in zip(words[::2], words[1::2], strict=True):
        assert stem(word) == expected, (step, word)
