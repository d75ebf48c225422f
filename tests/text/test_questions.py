"""Which texts only ask."""

import pytest

from recollect.text.sentences import only_asks


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "Où est-ce que j'habite ?",
        "我住在哪里？",
        "أين أسكن؟",
        "“Who was it?”",
        "Πού μένω\u037e",
    ],
)
def test_only_questions(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text", ["", "I moved to Lyon", "I moved to Lyon. Any tips?", "Why? Because I said so.", "?!…"]
)
def test_what_states_something_too(text: str) -> None:
    assert not only_asks(text)
