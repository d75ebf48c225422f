"""What cue rules read in a text: the values of attributes, their ends, and what asserts nothing (P-24)."""

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.contradictions.cues.claims import Claim, ClaimKind
from recollect.contradictions.cues.documents import default_cue_rules
from recollect.contradictions.cues.reading import MOST_CLAIMS, read_claims

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)  # a Tuesday


def strong(text: str) -> list[Claim]:
    return [claim for claim in read_claims(text, AT, default_cue_rules()) if claim.strong]


@pytest.mark.spec("P-19", "P-24")
@pytest.mark.parametrize(
    ("text", "subject", "attribute", "value", "kind"),
    [
        ("I live in Paris", "", "home", "paris", "state"),
        ("I moved to Lyon", "", "home", "lyon", "change"),
        ("btw, we've finally relocated to Canada!", "", "home", "canada", "change"),
        ("My sister lives in Oslo", "sister", "home", "oslo", "state"),
        ("I work at Acme", "", "employer", "acme", "state"),
        ("I quit my job", "", "employer", "quit my job", "end"),
        ("I'm a nurse", "", "job title", "nurse", "state"),
        ("I got promoted to head nurse", "", "job title", "head nurse", "change"),
        ("I no longer eat meat", "", "eat", "meat", "end"),
        ("I've quit smoking", "", "topic", "smoke", "end"),
        ("Our favourite restaurant is Nino now", "", "favourite restaurant", "nino", "change"),
        ("The weekly sync is on Monday at 10", "", "the sync:when", "monday 10", "state"),
        ("The sync got moved to Thursday", "", "the sync:when", "thursday", "change"),
        ("We pushed the deadline back to May 5", "", "deadline", "may 5", "change"),
        ("my mail is tina@example.org", "", "email", "tina@example.org", "state"),
        ("Please call me Joe", "", "name", "joe", "state"),
        ("can you keep your answers short from now on?", "", "answer length", "short", "change"),
        ("My manager is Helen", "", "manager", "helen", "state"),
        ("We have two kids", "", "number of kid", "2", "state"),
    ],
)
def test_what_is_recognised(text: str, subject: str, attribute: str, value: str, kind: str) -> None:
    found = [(claim.subject, claim.attribute, claim.value, claim.kind.value) for claim in strong(text)]
    assert (subject, attribute, value, kind) in found


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    "text",
    [
        "Should I move to Lyon?",
        "do you know if I moved to Lyon",
        "If I moved to Lyon I'd miss the canal",
        "I might move to Lyon",
        "I'm thinking of moving to Lyon",
        "I wish I lived in Lyon",
        "imagine I lived in Lyon",
        "I'm going to move to Lyon",
        "I'll move to Lyon next year",
        "I haven't moved to Lyon",
        "I used to live in Lyon",
        "When I was nine I lived in Lyon",
        "In 2010 I moved to Lyon",
        'She said "I moved to Lyon last week"',
        "the song goes I moved to Lyon",
        "Anna says I live in Lyon",
        "> I live in Lyon",
        "```\nI live in Lyon\n```",
    ],
)
def test_what_is_asked_supposed_planned_past_or_quoted_says_nothing_of_the_home(text: str) -> None:
    assert [claim for claim in strong(text) if claim.attribute == "home"] == []


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("I'm staying at the Ritz until Friday", datetime(2026, 3, 7, tzinfo=UTC)),
        ("this week I live in Cardiff", datetime(2026, 3, 9, tzinfo=UTC)),
        ("I live in Cardiff through March 9th", datetime(2026, 3, 10, tzinfo=UTC)),
        ("for the next two weeks I live in Cardiff", datetime(2026, 3, 17, 9, tzinfo=UTC)),
        ("I live in Cardiff till the end of the month", datetime(2026, 4, 1, tzinfo=UTC)),
        ("just for today I live in Cardiff", datetime(2026, 3, 4, tzinfo=UTC)),
        ("I joined Bosch this week", None),
        ("I've been living in Cardiff for two years", None),
    ],
)
def test_a_bound_is_read_with_the_value_that_it_bounds(text: str, until: datetime | None) -> None:
    assert {claim.until for claim in strong(text)} == {until}


def test_a_value_is_where_its_span_says() -> None:
    text = "Hello there. We moved to Lyon in May, it's lovely."
    claim = next(claim for claim in strong(text) if claim.attribute == "home")
    assert claim.value_span is not None
    assert text[slice(*claim.value_span)] == "Lyon"
    assert text[slice(*claim.span)].startswith("We moved to Lyon")


PIECES = (
    "I we my our the she until Friday no longer not don't never now still same but and , . ? ! ' \" moved live in "
    "Paris to quit meat from instead of scratch that was wrong $5 10:30 may May is are at a@b.c \n ``` ( ) 1.2.3 é 中"
)
WORDS = st.sampled_from(PIECES.split(" "))


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=400), st.lists(WORDS, max_size=80).map(" ".join)))
def test_any_text_is_read_and_spans_are_within_it(text: str) -> None:
    claims = read_claims(text, AT, default_cue_rules())
    assert len(claims) <= MOST_CLAIMS
    for claim in claims:
        assert 0 <= claim.span[0] < claim.span[1] <= len(text)
        if claim.value_span is not None:
            assert 0 <= claim.value_span[0] < claim.value_span[1] <= len(text)
        assert claim.attribute
        assert isinstance(claim.kind, ClaimKind)
        assert claim.until is None or claim.until > AT


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, max_size=40).map(" ".join))
def test_reading_again_finds_the_same(text: str) -> None:
    rules = default_cue_rules()
    assert read_claims(text, AT, rules) == read_claims(text, AT, rules)


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a ",
        ",",
        "'a ",
        '"a b c ',
        "1.",
        "a. ",
        "a@a.",
        "I live in Paris. ",
        "until ",
        "(",
        "`",
        "I no longer very ",
    ],
)
def test_time_grows_with_the_length_at_most(piece: str) -> None:
    """Doubling a text of junk doubles the work: no rule backtracks. Times are this thread's own, in one run."""
    rules = default_cue_rules()
    text = piece * (65_536 // len(piece))
    read_claims(text[:2_000], AT, rules)
    whole = min(_seconds(text, rules) for _ in range(2))
    half = min(_seconds(text[: len(text) // 2], rules) for _ in range(2))
    assert whole < 5 * half + 0.1


def _seconds(text: str, rules: object) -> float:
    start = time.thread_time()
    read_claims(text, AT, rules)  # type: ignore[arg-type]
    return time.thread_time() - start
