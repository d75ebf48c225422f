"""From the pieces that a model says end to the parts of a text that do (P-24)."""

import pytest

from recollect.contradictions.ended_words import ended_spans
from recollect.contradictions.pairs import EndedPiece


def marked(text: str) -> tuple[str, list[EndedPiece]]:
    """A text of which [these words] end, and <these> may."""
    plain, start, pieces = "", 0, list[EndedPiece]()
    for character in text:
        if character in "[<":
            start = len(plain)
        elif character in "]>":
            pieces.append(EndedPiece(start, len(plain), 0.9 if character == "]" else 0.38))
        else:
            plain += character
    return plain, pieces


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "ended"),
    [
        ("I'm allergic to walnuts [and penicillin].", ["and penicillin."]),
        ("I'm allergic to [walnuts and] penicillin.", ["walnuts and"]),
        ("I work [on] Mondays, [Wednesdays and] Fridays.", ["Wednesdays and"]),
        ("I [play badminton and] go swimming on Thursdays.", ["play badminton and"]),
        ("I [play] <badminton> [and] go swimming on Thursdays.", ["play badminton and"]),
        ("I [play] <badminton and> go swimming on Thursdays.", ["play"]),
        ("I run [on] Mondays at [18:30] near the [big] harbour.", ["18:30"]),
        ("저는 [서울에] 살고 회사에서 [간호사로] 일해요", ["서울에", "간호사로"]),
        ("每周一[三]五上午去打扫两小时", ["三"]),
        ("我对花生[和芒果]过敏，牛奶也不行", ["和芒果"]),
        ("We [live in Porto and have a garden], I work as a nurse.", ["We live in Porto and have a garden,"]),
        ("I live in [Porto].", ["I live in Porto."]),
        ("[Ich wohne in Bonn].", ["Ich wohne in Bonn."]),
        (
            "[My doctor for everything is Prigent, he] is in [Paris]. Dentist on the 14th.",
            ["My doctor for everything is Prigent, he is in Paris."],
        ),
        ("I live in Porto.", []),
        ("<I live in Porto>.", []),
    ],
)
def test_what_ends_is_the_words_and_the_whole_where_they_leave_nothing(text: str, ended: list[str]) -> None:
    plain, pieces = marked(text)
    assert [plain[slice(*span)] for span in ended_spans(plain, pieces)] == ended


@pytest.mark.spec("P-24")
def test_beside_what_surely_ends_a_word_of_which_less_is_said_stays() -> None:
    text = "Walks on Mondays, yoga on Fridays"
    fridays, mondays = EndedPiece(26, 33, 0.9), EndedPiece(9, 17, 0.5)
    assert [text[slice(*span)] for span in ended_spans(text, [fridays, mondays])] == ["Fridays"]
    assert [text[slice(*span)] for span in ended_spans(text, [mondays])] == ["Mondays,"]
