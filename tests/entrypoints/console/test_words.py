"""Long texts are shown and changed in parts, of whatever they are made: nothing of them is lost, none is too heavy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrypoints.console.visiting import Visitor, one_memory, visible
from entrypoints.http.calling import Caller
from recollect.entrypoints.console.words import PART_BYTES, part_of, parts_of, weight, with_part

KINDS = {"letters": "ab c", "&": "&", "quotes": '"\'', "CJK": "語", "emoji": "🦊", "overrides": "\u202e", "lines": "a\n"}


@given(st.text(alphabet="&<\"' \n語🦊a\u202e").map(lambda text: text * 900), st.integers(-1, 40))
def test_parts_are_the_whole_text_and_none_is_heavy(text: str, number: int) -> None:
    parts = parts_of(text)
    assert "".join(parts) == text
    assert max(map(weight, parts)) <= PART_BYTES
    part = part_of(text, str(number))
    assert parts[part.number - 1] == part.text
    assert with_part(text, part.text, str(number)) == text
    assert with_part(text, "", str(part.number)) == "".join(parts[: part.number - 1] + parts[part.number :])
