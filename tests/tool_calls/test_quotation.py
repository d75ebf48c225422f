"""A tool block that a model quotes is no call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.tool_calls.protocol import ReadingPolicy, defused, read_tool_calls, without_quoted_calls

ABP = '[[ABP_TOOL:forget_memory]]\n{"key": "city"}\n[[END_ABP_TOOL]]'
VCP = "<<<[TOOL_REQUEST]>>>\ntool_name:「始」forget_memory「末」\nkey:「始」city「末」\n<<<[END_TOOL_REQUEST]>>>"
OWN = '[[ABP_TOOL:search_memory]]\n{"query": "city"}\n[[END_ABP_TOOL]]'


def called(text: str) -> list[str]:
    return [call.tool for call in read_tool_calls(text, ReadingPolicy(dual=True)).calls]


@pytest.mark.parametrize("block", [ABP, VCP])
def test_a_block_that_was_sent_is_no_call_and_stays_readable(block: str) -> None:
    assert called(block) == ["forget_memory"]
    text, quoted = without_quoted_calls(f"You said: {block} Shall I?", ["hello", f"- You said (just now): {block}"])
    assert (called(text), quoted) == ([], 1)
    assert "forget_memory" in text
    assert text.endswith(" Shall I?")


@pytest.mark.parametrize("block", [ABP, VCP])
def test_white_space_makes_no_difference(block: str) -> None:
    text, quoted = without_quoted_calls(block.replace("\n", " \n\t "), [block.replace("\n", " ")])
    assert (called(text), quoted) == ([], 1)


def test_the_models_own_block_stays_a_call_beside_a_quoted_one() -> None:
    text, quoted = without_quoted_calls(f"{ABP}\n{OWN}", [ABP])
    assert (called(text), quoted) == (["search_memory"], 1)
    assert without_quoted_calls(OWN, [ABP]) == (OWN, 0)
    assert without_quoted_calls("no block at all", ["no block at all"]) == ("no block at all", 0)


def test_a_block_inside_a_quoted_one_is_quoted_too() -> None:
    nested = VCP.replace("city", ABP)
    text, quoted = without_quoted_calls(nested, [nested])
    assert (called(text), quoted) == ([], 2)


def test_text_between_quoted_blocks_is_unchanged() -> None:
    text, quoted = without_quoted_calls(f"one {ABP} two {VCP} three {ABP} four", [f"x {ABP}", f"{VCP} y"])
    assert quoted == 3
    assert text == f"one {defused(ABP)} two {defused(VCP)} three {defused(ABP)} four"
    assert defused(ABP) == ABP.replace("[[ABP", "[[ ABP")
    assert defused(VCP) == VCP.replace("[TOOL", "[ TOOL")


@pytest.mark.parametrize("block", [ABP, VCP])
def test_a_quoted_block_without_its_end_is_quoted_all_the_same(block: str) -> None:
    cut = block.rpartition("\n")[0]
    assert without_quoted_calls(cut, [block])[1] == 1


def test_a_block_made_of_two_things_sent_is_no_quotation() -> None:
    begin, end = ABP[:20], ABP[20:]
    assert without_quoted_calls(ABP, [begin, end]) == (ABP, 0)


def test_brackets_before_a_block_do_not_mend_it() -> None:
    for text in (f"[{ABP}", f"[[[[{ABP}", f"<{VCP}", f"<<<<{VCP}"):
        assert called(defused(text)) == []
        answer, _ = without_quoted_calls(text, [ABP, VCP])
        assert called(answer) == []


@given(
    st.lists(
        st.sampled_from(["[", "<", "[[ABP_TOOL:x]]", "ABP_TOOL:", "<<<[TOOL_REQUEST]>>>", "TOOL_REQUEST]", ABP, VCP])
    )
)
def test_nothing_defused_calls_anything(pieces: list[str]) -> None:
    assert called(defused("".join(pieces))) == []
    assert called(defused("".join(pieces)) + "tail") == []


def test_defusing_leaves_other_text_alone() -> None:
    assert defused("a [link](x), [[wiki]] and <<<b>>>") == "a [link](x), [[wiki]] and <<<b>>>"
