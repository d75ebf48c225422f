"""Every rule of docs/specification.md that is built has a test, and every marker names a rule."""

from infra.tools.specification import proved, rules

NOT_BUILT_YET = "not built yet"


def test_every_rule_has_a_test_or_says_why_none_can_prove_it() -> None:
    assert [rule.id for rule in rules() if not rule.untested and rule.id not in proved()] == []


def test_every_marker_names_a_rule() -> None:
    assert proved() - {rule.id for rule in rules()} == set()


def test_what_is_not_built_yet_has_no_test() -> None:
    waiting = {rule.id for rule in rules() if rule.untested.startswith(NOT_BUILT_YET)}
    assert waiting & proved() == set()


def test_no_rule_is_missing_from_the_numbering() -> None:
    """The documents number their rules without gaps, but for R-47 to R-63, which are unused."""
    ids = {rule.id for rule in rules()}
    expected = {
        f"{letter}-{n:02d}"
        for letter, last in (("K", 103), ("H", 40), ("S", 40), ("A", 130), ("R", 119))
        for n in range(1, last + 1)
    }
    expected -= {f"R-{n}" for n in range(47, 64)}
    expected |= {f"R-P{n}" for n in range(1, 21)} | {f"P-{n}" for n in range(1, 26)}
    assert ids == expected
