"""Redaction of texts in logs (P-18)."""

import pytest

from recollect.intent.scoring import Redaction


@pytest.mark.spec("P-18")
def test_a_text_is_logged_by_length_and_keyed_hash() -> None:
    told, again = Redaction(b"k").text("secret"), Redaction(b"k").text("secret")
    assert told == again
    assert isinstance(told, dict)
    assert (told["length"], len(str(told["hash"]))) == (6, 16)
    assert Redaction(b"other").text("secret") != told
    assert Redaction(b"k").text("secreT") != told
    Redaction(b"k").text("\ud800")
