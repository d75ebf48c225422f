"""How much damage is worth reading, and which object of a block counts."""

import pytest

from recollect.core.event import Json
from recollect.tool_calls.objects import MOST_LEVELS, Allowance, Reading, Salvaged, decode_object, read_object, salvage

PLENTY = 1_000_000


def allowed(failures: int = PLENTY, characters: int = PLENTY) -> Allowance:
    return Allowance(failures, characters)


def found(text: str, allowance: Allowance | None = None) -> dict[str, Json] | None:
    """What counts in a text that stands between others."""
    salvaged = salvage(f"{{{text}{{", 1, len(text) + 1, allowance or allowed())
    return None if salvaged is None else salvaged.value


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ('zz{"a": 1} {"b": 2}', Reading({"a": 1}, 10)),
        ('zz{"a": 1 "b"}', Reading(None, 10)),
        ("zz{x", Reading(None, 3)),
        ("zzx", Reading(None, 3)),
        ('zz{"a": NaN}', Reading(None, 3)),
        ('zz{"a": 1e999}', Reading(None, 3)),
        ("zz[1]", Reading(None, 5)),
        ('zz{"a": "\\ud800"}', Reading(None, 17)),
        ('zz{"a": "\\ud83d\\ude00"}', Reading({"a": "😀"}, 23)),
    ],
)
def test_a_reading_ends_where_it_failed_and_fails_once(text: str, reading: Reading) -> None:
    allowance = allowed(3)
    assert read_object(text, 2, allowance) == reading
    assert allowance == allowed(3 if reading.value is not None else 2)


def test_without_an_allowance_nothing_is_read() -> None:
    allowance = allowed(1)
    assert read_object('{"a": 1}', 0, allowance).value == {"a": 1}
    assert read_object('{"a": tru}', 0, allowance).value is None
    assert read_object('zz{"a": 1}', 2, allowance) == Reading(None, 3)
    assert allowance.failures == -1
    assert Allowance.of("x" * 10) == Allowance(1000, 40)


@pytest.mark.spec("A-08")
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]")])
def test_levels_are_counted_and_not_brackets(opening: str, closing: str) -> None:
    def nested(levels: int) -> str:
        return '{"a":' + opening * (levels - 1) + "1" + closing * (levels - 1) + "}"

    for read in (decode_object, lambda text: read_object(text, 0, allowed()).value):
        assert read(nested(MOST_LEVELS)) is not None
        assert read(nested(MOST_LEVELS + 1)) is None
        wide = '{"a": [' + ", ".join(["[]", "{}"] * MOST_LEVELS) + "]}"
        assert read(wide) is not None


def test_a_mended_text_may_break_lines_in_its_strings_and_is_an_object_of_unicode() -> None:
    assert decode_object('{"a": "x\ny"} more') == {"a": "x\ny"}
    for text in ("[1]", "5", '{"a": "\\ud800"}', '{"a": NaN}', "{", "[" * 100_000):
        assert decode_object(text) is None


@pytest.mark.spec("A-10")
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} and {"b": 2} end', {"b": 2}),
        ('{"a": 1} {"b": 2 "c": 3}', {"a": 1}),
        ('{"a": 1 "x": 2} {"b": 2}', {"b": 2}),
        ('{"a": 1 "x": 2} {"b": 3,, "c": 4}', {"b": 3, "c": 4}),
        ('{"a": hello {"b": 2}}', None),
        ('{"a": hello} {"b": 2}', {"b": 2}),
        ('{"a": hello} {"b": 2,,}', {"b": 2}),
        ('{"a": NaN, "x": {"b": 2}} {"c": 3}', {"c": 3}),
        ('{"a": 1}\n```  ', {"a": 1}),
        ("{prose}", None),
    ],
)
def test_the_last_valid_object_counts_and_none_inside_a_damaged_one(text: str, value: dict[str, Json] | None) -> None:
    assert found(text) == value


def test_it_ends_where_its_object_does() -> None:
    text = 'before {"a": 1} after'
    assert salvage(text, 3, len(text), allowed()) == Salvaged({"a": 1}, 15, repaired=False)
    mended = 'before {"a": 1,} after'
    assert salvage(mended, 3, len(mended), allowed()) == Salvaged({"a": 1}, 16, repaired=True)


def test_mending_ends_with_the_allowance_and_what_was_found_stays() -> None:
    damaged, valid = '{"a": 1,} ', '{"b": 2} '
    assert found(damaged + valid, allowed(failures=2)) == {"b": 2}
    assert found(damaged + valid, allowed(failures=1)) is None
    assert found(damaged * 2 + valid, allowed(failures=3)) == {"b": 2}
    assert found(valid + damaged * 5, allowed(failures=2)) == {"b": 2}
    assert found(damaged, allowed(characters=0)) is None
    assert found(damaged, allowed(characters=1)) == {"a": 1}
    spent = allowed(characters=100)
    found("padding " + damaged, spent)
    assert spent.characters == 100 - len(damaged)
    assert found(damaged * 2, allowed(characters=len(damaged))) == {"a": 1}
