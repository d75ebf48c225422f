"""Short plain statements: evidence that adds up, what is taken back, one of several things (P-24)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contradictions.cues.claims import Parsed
from recollect.contradictions.cues.documents import CueRules, default_cue_rules
from recollect.contradictions.cues.evidence import closest, evidence_of
from recollect.contradictions.cues.reading import read_claims
from recollect.contradictions.cues.relations import relate
from recollect.contradictions.cues.statements import may_say_otherwise
from recollect.contradictions.relation import Relation, RelationKind

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)


def said(text: str, days: int, rules: CueRules) -> Parsed:
    at = AT + timedelta(days=days)
    return Parsed(f"{days:03d}", text, at, "", read_claims(text, at, rules))


def relation(older: str, newer: str, rules: CueRules | None = None) -> Relation | None:
    chosen = rules or default_cue_rules()
    return relate(said(older, 0, chosen), said(newer, 7, chosen), chosen)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Our boiler cover is with Hestia.", "We took our boiler cover to Novaheat."),
        ("I keep my kayak in the shed.", "the kayak is at the club now"),
        ("I can't stand coriander.", "Coriander is lovely, I put it on everything."),
        ("I'm not in the book club.", "I'm at book club every Tuesday."),
        ("The lift is broken.", "lift's working"),
    ],
)
def test_evidence_adds_up_to_another_value(older: str, newer: str) -> None:
    found = relation(older, newer)
    assert found is not None
    assert found.kind is RelationKind.SUPERSEDES


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("We took our boiler cover to Novaheat.", True),
        ("CI fails the build on lint errors, we turned it on.", True),
        ("call me Bo from now on", True),
        ("Is the kayak at the club now?", False),
        ("If the kayak were at the club I'd go more often.", False),
        ("Thanks, that sounds lovely!", False),
        ("You took great pictures of the kayak.", False),
        ("I swim. I ride. I run. I row. I ski.", False),
    ],
)
def test_short_asserted_words_of_the_speaker_may_say_otherwise(text: str, may: bool) -> None:
    rules = default_cue_rules()
    assert may_say_otherwise(said(text, 7, rules), rules) is may


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I can't swim at all.", "Guess who can swim, little Marco did two full lengths today!"),
        ("I weigh 84 kilos.", "Scale shows 79 kilos for my husband now, yay!"),
        ("I put 300 euros into savings each month.", "Only 100 euros a month go into Yusuf's savings now."),
        ("I'm allergic to peanuts.", "The allergist confirmed that my son has outgrown his peanut allergy."),
        ("I'm on metformin.", "had I misread the box, I'd worry that the metformin is not mine"),
    ],
)
def test_what_is_of_somebody_else_or_only_supposed_ends_nothing(older: str, newer: str) -> None:
    assert relation(older, newer) is None


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    "newer",
    [
        "My neighbour's kayak is at the club now.",
        "If the kayak were at the club I'd go more often.",
        'The sign says "the kayak is at the club now"',
        "Is the kayak at the club now?",
        "The kayak was at the club when we lived in Hull.",
        "I sat in the shed and read a book.",
    ],
)
def test_another_person_a_condition_a_quotation_a_question_and_the_past_are_no_evidence(newer: str) -> None:
    assert relation("I keep my kayak in the shed.", newer) is None


@pytest.mark.parametrize(
    "older",
    [
        "I keep my kayak in the shed! It is a red one, and we got it from my uncle.",
        "You keep your kayak in the shed.",
        "That is where my kayak is, in the shed.",
        "I keep my kayak in the shed " + "behind the old mowers " * 5,
    ],
)
def test_only_one_plain_sentence_can_be_replaced_so(older: str) -> None:
    rules = default_cue_rules()
    assert closest(said(older, 0, rules), said("The kayak is at the club now.", 7, rules), rules) is None


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My locker is 4411.", "4411 is the bike shed, gave you the wrong one"),
        ("My passport is Maltese.", "forget Maltese, autocorrect did that"),
        ("I'm a licensed diver.", "I have to own up, I'm not a licensed diver."),
        ("We keep llamas.", "no we don't keep llamas, that was my niece on my phone"),
    ],
)
def test_what_was_told_wrongly_is_taken_back(older: str, newer: str) -> None:
    found = relation(older, newer)
    assert found is not None
    assert found.kind is RelationKind.RETRACTS


@pytest.mark.parametrize(
    "newer",
    [
        "Correction, Tilda doesn't keep llamas.",
        "Sorry, her farm was wrong about llamas, they never had any.",
        "I'm going to tell them we keep no llamas, as a joke.",
        "At school I lied that we keep llamas.",
    ],
)
def test_what_others_told_wrongly_is_not(newer: str) -> None:
    assert relation("We keep llamas.", newer) is None


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I play the harp, the oboe and the tuba.", "Sold the tuba."),
        ("My pizza is ham, capers and olives.", "olives are off my pizza"),
        ("My son does judo, chess and drama.", "he packed in the chess"),
    ],
)
def test_one_of_several_things_leaves_both_and_an_open_conflict(older: str, newer: str) -> None:
    found = relation(older, newer)
    assert found is not None
    assert (found.kind, found.merged) == (RelationKind.UNDECIDED, None)


def test_the_weights_decide() -> None:
    older, newer = "Our boiler cover is with Hestia.", "We took our boiler cover to Novaheat."
    assert relation(older, newer, weighing(plain={})) is None
    assert relation(older, newer, weighing(plain={"always": -9})) is None
    assert relation(older, newer, weighing(bounded={})) is not None


def weighing(**weights: dict[str, float]) -> CueRules:
    known = default_cue_rules()
    return CueRules({**known.document, "evidence": {**known.evidence, **weights}})


def test_every_weight_is_of_a_piece_of_evidence_that_there_is() -> None:
    rules = default_cue_rules()
    older, newer = said("I keep my kayak in the shed.", 0, rules), said("The kayak is at the club now.", 7, rules)
    pair = closest(older, newer, rules)
    assert pair is not None
    found = evidence_of(pair, newer, rules)
    assert {name for weights in rules.evidence.values() for name in weights} <= set(found)


@given(st.text(max_size=120), st.text(max_size=180))
def test_no_text_is_too_odd(older: str, newer: str) -> None:
    rules = default_cue_rules()
    pair = closest(said(older, 0, rules), said(newer, 7, rules), rules)
    assert pair is None or all(0 <= value <= 4 for value in evidence_of(pair, said(newer, 7, rules), rules).values())
