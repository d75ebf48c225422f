"""Cue rules as data: an overlay adds, replaces, disables by name; what is wrong is refused with its path (P-24)."""

from datetime import UTC, datetime
from typing import Any

import pytest

from recollect.core.errors import InvalidInput
from recollect.domain.claim_reading import read_claims
from recollect.domain.claims import Claim
from recollect.domain.cue_rules import CueRules, cue_rules_of, default_cue_rules, merged_cue_rules

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


def attributes(text: str, rules: CueRules) -> set[str]:
    return {claim.attribute for claim in read_claims(text, AT, rules) if claim.strong}


def test_no_overlay_is_the_defaults_and_equal_ones_are_one_object() -> None:
    assert cue_rules_of(None) is default_cue_rules()
    assert cue_rules_of({}) is default_cue_rules()
    overlay = {"words": {"persons": ["sister"]}}
    assert cue_rules_of(overlay) is cue_rules_of(dict(overlay))


def test_an_attribute_of_ones_own_is_recognised() -> None:
    rules = cue_rules_of(
        {"attributes": {"instrument": {"state": ["busk with|on {value}"], "change": ["take up {value}"]}}}
    )
    found = [claim for claim in read_claims("I busk with a ukulele", AT, rules) if claim.attribute == "instrument"]
    assert [(claim.value, claim.rule) for claim in found] == [("ukulele", "instrument.state")]


def test_an_attribute_is_disabled_by_null() -> None:
    assert "home" in attributes("I live in Paris", default_cue_rules())
    assert "home" not in attributes("I live in Paris", cue_rules_of({"attributes": {"home": None}}))


def test_a_word_list_is_replaced_as_a_whole() -> None:
    text = "I live in Paris perchance"
    rules = cue_rules_of({"words": {"unreal": ["perchance"]}})
    assert "home" in attributes(text, default_cue_rules())
    assert "home" not in attributes(text, rules)


@pytest.mark.parametrize(
    ("overlay", "loc"),
    [
        ([], ("cues",)),
        ({"nouns": {}}, ("cues", "nouns")),
        ({"attributes": []}, ("cues", "attributes")),
        ({"attributes": {"": {}}}, ("cues", "attributes")),
        ({"attributes": {"home": []}}, ("cues", "attributes", "home")),
        ({"attributes": {"home": {"stat": []}}}, ("cues", "attributes", "home", "stat")),
        ({"attributes": {"home": {"exclusive": 1}}}, ("cues", "attributes", "home", "exclusive")),
        ({"attributes": {"home": {"state": "live in {place}"}}}, ("cues", "attributes", "home", "state")),
        ({"attributes": {"home": {"state": ["live", " "]}}}, ("cues", "attributes", "home", "state", 1)),
        ({"attributes": {"home": {"state": ["live in {nowhere}"]}}}, ("cues", "attributes", "home", "state", 0)),
        (
            {"attributes": {"home": {"state": ["live in {place} or {value}"]}}},
            ("cues", "attributes", "home", "state", 0),
        ),
        ({"attributes": {"home": {"state": ["live in (the"]}}}, ("cues", "attributes", "home", "state", 0)),
        ({"attributes": {"home": {"state": ["{value} is home"]}}}, ("cues", "attributes", "home", "state", 0)),
        ({"topics": {"end": [1]}}, ("cues", "topics", "end", 0)),
        ({"topics": {"ends": []}}, ("cues", "topics", "ends")),
        ({"words": {"persons": {}}}, ("cues", "words", "persons")),
        ({"words": {"person": []}}, ("cues", "words", "person")),
        ({"irregular": {"go": ["went"]}}, ("cues", "irregular", "go")),
        ({"words": {"persons": ["x"] * 3000}}, ("cues", "words", "persons")),
        ({"fields": {"phone": "pixel"}}, ("cues", "fields", "phone")),
        ({"evidence": {"plain": []}}, ("cues", "evidence", "plain")),
        ({"evidence": {"plain": {"fresh": 11}}}, ("cues", "evidence", "plain", "fresh")),
        ({"evidence": {"plain": {"fresh": float("nan")}}}, ("cues", "evidence", "plain", "fresh")),
        ({"evidence": {"other": {}}}, ("cues", "evidence", "other")),
    ],
)
def test_what_is_wrong_is_refused_with_its_path(overlay: Any, loc: tuple[str | int, ...]) -> None:
    with pytest.raises(InvalidInput) as refused:
        merged_cue_rules(overlay, default_cue_rules())
    assert refused.value.loc == loc


@pytest.mark.parametrize(
    "section", ["words", "topics", "related", "facets", "excludes", "verb_classes", "irregular", "fields"]
)
def test_every_name_may_be_disabled(section: str) -> None:
    rules = cue_rules_of({section: dict.fromkeys(default_cue_rules().document[section])})
    assert isinstance(read_claims("I moved to Lyon but not from Paris, same job though.", AT, rules), tuple)


def test_the_defaults_pass_their_own_check() -> None:
    defaults = default_cue_rules()
    merged = merged_cue_rules({name: dict(section) for name, section in defaults.document.items()}, defaults)
    text = "I moved to Lyon and no longer eat meat"
    assert _read(text, merged) == _read(text, defaults)


def _read(text: str, rules: CueRules) -> tuple[Claim, ...]:
    return read_claims(text, AT, rules)
