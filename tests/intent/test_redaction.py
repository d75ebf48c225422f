"""Redaction of texts in logs (P-18)."""

import pytest

from recollect.intent.scoring import Redaction
from samples.retrieval_records import analysed


@pytest.mark.spec("P-18")
def test_a_text_is_logged_by_length_and_keyed_hash() -> None:
    told, again = Redaction(b"k").text("secret"), Redaction(b"k").text("secret")
    assert told == again
    assert isinstance(told, dict)
    assert (told["length"], len(str(told["hash"]))) == (6, 16)
    assert Redaction(b"other").text("secret") != told
    assert Redaction(b"k").text("secreT") != told
    Redaction(b"k").text("\ud800")


@pytest.mark.spec("P-18", "R-99")
def test_only_where_content_is_logged_does_the_analysis_say_words() -> None:
    analysis = analysed("What was my blood pressure in Health last week?")
    assert "blood" not in str(Redaction(b"k").analysis(analysis))
    told = Redaction(b"k", content=True).analysis(analysis)
    assert told["originalQuery"] == analysis.original_query
    assert told["keywords"] == list(analysis.keywords)
    assert {"type": "category", "value": "blood pressure", "normalized": "blood pressure"} in told["entities"]
