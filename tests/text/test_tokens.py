"""The token estimate (api.md: ceil(characters / 4), CJK characters one each)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.sentences import count_tokens


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
