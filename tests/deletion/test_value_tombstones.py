"""Rejected values: the same value however it is written, near misses apart, and sentences of longer texts."""

import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.scope import Scope
from recollect.deletion.rejected_values import (
    ValueKey,
    count_pieces,
    fold_value,
    pieces_of,
    value_hash,
    without_rejected,
)
from recollect.text.phrases import folded, is_invisible, may_hide

VALUE = "I live in Paris at 12 Hoe Street"
WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in map(chr, range(0x21, 0x7F))}
CYRILLIC = str.maketrans("aeopcxyiIPCTHBMKAEOX", "аеорсхуіІРСТНВМКАЕОХ")
GREEK = str.maketrans("oiIPHAEBTMKXZNYv", "οιΙΡΗΑΕΒΤΜΚΧΖΝΥν")
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u202e\u180e\ufe0f\u115f\u3164\U000e0041\x07"
SPACES = " \t\u00a0\u2003\u3000\u2028\r\n"


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    "written",
    [
        VALUE.upper(),
        VALUE.lower(),
        VALUE.translate(WIDE),
        VALUE.translate(CYRILLIC),
        VALUE.upper().translate(CYRILLIC),
        VALUE.translate(GREEK),
        VALUE.upper().translate(GREEK),
        unicodedata.normalize("NFD", VALUE),
        f"  {VALUE}. ",
        f"- {VALUE}!",
        VALUE.replace(" ", "\u00a0\u2009 "),
        VALUE.replace("12", "１２"),
        VALUE.replace("12", "١٢"),
        "".join(chr(0x1D41A + ord(c) - 97) if c.islower() else c for c in VALUE),
        "I lıve ɪn Pᴀris at 12 Hoe Street",
        "\u200b".join(VALUE),
    ],
)
def test_a_value_is_the_same_however_it_is_written(written: str) -> None:
    assert fold_value(written) == fold_value(VALUE)


def test_what_hides_nothing_is_known_to() -> None:
    hidden = [chr(code) for code in range(0x110000) if is_invisible(chr(code))]
    assert all(may_hide(character) for character in hidden)
    assert not may_hide("plain text, ümlaut, 漢字 and 🙂")


@given(st.text("abcXYZ .!`\t\n\x00\x1b\x7f", max_size=40))
def test_plain_text_is_folded_as_any_other(text: str) -> None:
    assert folded(text) == folded(text + "\u200b")


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("my PIN is 1234", "my PIN is 1235"),
        ("the code is O0l1", "the code is 00l1"),
        ("the code is l", "the code is 1"),
        ("a modern house", "a modem house"),
        ("I like résumés", "I like resumes"),
        ("I like tea", "I like teas"),
        ("I live in Rome", "I live in Rome?"),
        ("I live in Rome", "I do not live in Rome"),
        ("-5", "5"),
        ("I use C", "I use C++"),
        ("New York", "NewYork"),
        ("кот", "кит"),
        ("дом", "том"),
        ("νόμος", "μόνος"),
        ("...", "!?"),
        ("👍", "👎"),
    ],
)
def test_near_misses_stay_apart(one: str, other: str) -> None:
    assert fold_value(one) != fold_value(other)


@given(st.text(max_size=60), st.data())
def test_invisible_characters_and_spaces_change_nothing(text: str, data: st.DataObject) -> None:
    words = [data.draw(st.sampled_from(INVISIBLE)) + word for word in folded(text).split()]
    between = data.draw(st.text(SPACES, min_size=1, max_size=4))
    assert fold_value(between.join(words)) == fold_value(" ".join(folded(text).split()))


@given(st.text(max_size=80))
def test_folding_is_done_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert fold_value(fold_value(text)) == fold_value(text) or not any(c.isalnum() for c in text)


@given(st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789", max_size=80))
def test_ascii_letters_and_digits_are_left_as_they_are(text: str) -> None:
    assert folded(text) == " ".join(text.lower().split())


@given(st.text("абвгдежзийклмнопрстуфхцчшщъыьэюя", min_size=1), st.text("абвгдежзийклмнопрстуфхцчшщъыьэюя", min_size=1))
def test_two_russian_words_stay_two(one: str, other: str) -> None:
    assert (folded(one) == folded(other)) == (one == other)


@given(st.text("αβγδεζηθικλμνξοπρστυφχψω", min_size=1), st.text("αβγδεζηθικλμνξοπρστυφχψω", min_size=1))
def test_two_greek_words_stay_two_and_each_is_itself_in_capitals(one: str, other: str) -> None:
    assert (folded(one) == folded(other)) == (one == other)
    assert folded(one.upper()) == folded(one)


@given(st.text(max_size=200))
def test_pieces_make_up_the_text(text: str) -> None:
    assert "".join(text[start:end] for start, end in pieces_of(text)) == text
    assert count_pieces(text) >= 1


def judge(*values: str) -> Callable[[str], bool]:
    folds = {fold_value(value) for value in values}
    return lambda text: fold_value(text) in folds


@pytest.mark.spec("P-22")
@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Hello. I hate liver! Bye.", "Hello. Bye."),
        ("Hello.\u200b I HATE LIVER.\nBye", "Hello.\u200b Bye"),
        ("Plan B. I hate liver.", "Plan B."),
        ("I hate liver", None),
        ("I hate liver. I hate liver!", None),
        ("I hate liver and onions. Bye.", "I hate liver and onions. Bye."),
        ("She said that I hate liver.", "She said that I hate liver."),
        ("We talked.\n- I hate liver\n- You do not", "We talked.\n- You do not"),
        ("Ｉ　ｈａｔｅ　ｌｉｖｅｒ．　Bye.", "Bye."),
        ("我喜欢茶。I hate liver.我喜欢茶。", "我喜欢茶。我喜欢茶。"),
        ("", ""),
    ],
)
def test_a_sentence_of_a_longer_text_goes_and_the_rest_stays(text: str, left: str | None) -> None:
    kept = without_rejected(text, judge("I hate liver"))
    assert (kept.split() if kept else kept) == (left.split() if left else left)


def test_a_value_of_several_sentences_goes_as_a_run() -> None:
    value = "I met Dr. Smith. He cured me."
    is_rejected = judge(value)
    runs = [count_pieces(value)]
    assert without_rejected(f"Listen! {value} Good.", is_rejected, runs) == "Listen! Good."
    assert without_rejected("I met Dr. Smith. He left.", is_rejected, runs) == "I met Dr. Smith. He left."
    assert without_rejected(value, is_rejected, runs) is None


@given(st.lists(st.sampled_from(["I hate liver.", "Tea is fine.", "It rains!", "Who? Me."]), max_size=8))
def test_what_is_left_has_no_rejected_sentence_and_every_other(sentences: list[str]) -> None:
    text = " ".join(sentences)
    kept = without_rejected(text, judge("i hate LIVER"))
    wanted = [one for one in sentences if one != "I hate liver."]
    assert (kept or "").split() == " ".join(wanted).split()


def test_a_hash_is_of_key_user_persona_and_household() -> None:
    key, other = ValueKey("a", b"1" * 32), ValueKey("b", b"2" * 32)
    anna = Scope("acme", "anna")
    owners = [anna, Scope("acme", "ben"), Scope("acme", "anna", "coach"), Scope("acme", "anna", None, "home")]
    hashes = {value_hash(one, owner, VALUE) for one in (key, other) for owner in owners}
    assert len(hashes) == 8
    assert value_hash(key, anna, VALUE) == value_hash(key, anna, VALUE.upper())
    assert "1111" not in repr(key)
