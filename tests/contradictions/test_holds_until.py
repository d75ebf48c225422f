"""Until when a keyed value holds: the bounds that its own words set, and words of time that bind nothing (P-24)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.contradictions.binding import clause_around, holds_until
from recollect.contradictions.bounds import read_bound, read_bounds

TUESDAY = datetime(2026, 6, 16, 9, 20, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("I'm sleeping on the sofa this week, the bedroom's being painted.", "2026-06-22"),
        ("Hello! We've got two dogs at home this weekend, looking after my friend's.", "2026-06-22"),
        ("Clive's doing the charity's books up to the end of July, I'm having a break.", "2026-08-01"),
        ("I'm at desk 40 till the weekend, they're fixing the window.", "2026-06-22"),
        ("No dairy for a fortnight, doctor's orders.", "2026-06-30T09:20"),
        ("No running for 6-8 weeks, stress fracture.", "2026-08-11T09:20"),
        ("I'm at the Hilton for three nights.", "2026-06-19T09:20"),
        ("the password is hunter2 for the next 24hrs", "2026-06-17T09:20"),
        ("I'm in Porto, back on the 24th.", "2026-06-25"),
        ("I do the cooking as long as Ana's away, she comes back on Sunday.", "2026-06-22"),
        ("We've got a Disney trial that ends on the 22nd.", "2026-06-23"),
        ("I'm on my old Nokia till the new screen arrives on Saturday.", "2026-06-21"),
        ("Bringing my own lunch till payday (the 26th).", "2026-06-27"),
        ("Marc is my line manager pending Ruth's return on 3 March.", "2027-03-04"),
        ("I'm on call until 8am on Monday.", "2026-06-22T08:00"),
        ("I'm revising in the library until half past five", "2026-06-16T17:30"),
        ("My cousin's staying with me between now and the 21st.", "2026-06-22"),
        ("We have a cat in the house from today to Sunday.", "2026-06-22"),
        ("I'm working from home tomorrow and Thursday.", "2026-06-19"),
        ("I park on level 5 this week and next.", "2026-06-29"),
        ("Ella's babysitting for the whole of July.", "2026-08-01"),
        ("My weekly budget is 40 till the month is out.", "2026-07-01"),
        ("We speak only French at home until Halloween, it's a challenge.", "2026-11-01"),
        ("I'm covering for Priya till she's back on Monday week.", "2026-06-30"),
        ("We're on winter hours until 25/10", "2026-10-26"),
        ("They moved me to the Leeds office until the end of Q3", "2026-10-01"),
        ("I'm not buying any clothes before 1 October.", "2026-10-02"),
        ("Tonight I'm on the night bus.", "2026-06-17"),
        ("no football in the drive today, chickenpox", "2026-06-17"),
        ("hasta el domingo 21 dormimos en casa de mi madre", "2026-06-22"),
        ("Bin bis Freitag bei Oma.", "2026-06-20"),
        ("金曜日まで実家にいます", "2026-06-20"),
    ],
)
def test_a_bound_is_read_however_it_is_said(text: str, until: str) -> None:
    assert holds_until(text, TUESDAY) == day(until)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    "text",
    [
        "We're going to Crete for ten days, in a hotel.",
        "I go to bed at 10 and read for an hour.",
        "I've worked at Bosch for three weeks and I love it.",
        "I'm on a diet for two weeks now.",
        "We moved to Delft this week.",
        "We're moving to Leeds this week.",
        "We got married this weekend.",
        "Dr Roy has been my doctor since this week.",
        "Our lease runs for two years with a deposit of 2000.",
        "Passwords are valid for 90 days.",
        "We go to Crete for ten days every June.",
        "I don't start at the bank until Monday 6 July.",
        "I lived in Turin until March.",
        "I work Monday through Friday.",
        "The rent is 750, due at the end of the month.",
        "The library's open until 8 on Thursdays.",
        "I train at McFit now, it's open until 10pm.",
        "They've moved my desk up to the fifth floor.",
        "The exam is tomorrow.",
        "Is my desk 12 until Friday?",
        "If the paint isn't dry, I'm on the sofa until Friday.",
        "He's back on Friday nights.",
        "season 3 of Deadwood tonight, Noor's made popcorn",
        "I told my boss today, so you needn't keep it secret",
        "Ist der Aufzug bis Mittwoch gesperrt?",
        "Ich arbeite von Montag bis Freitag.",
        "Bis Freitag!",
    ],
)
def test_words_of_time_that_bind_nothing(text: str) -> None:
    assert holds_until(text, TUESDAY) is None


def test_another_bound_may_bind_where_the_first_does_not() -> None:
    assert holds_until("I've worked there for three years, for the next two weeks I'm on leave", TUESDAY) == (
        TUESDAY + timedelta(days=14)
    )


def test_until_what_hour_says_nothing_of_the_day() -> None:
    assert read_bound("the gym is open until ten", TUESDAY) is None
    assert [bound.names_end for bound in read_bounds("the gym is open until ten", TUESDAY)] == [False]


@pytest.mark.parametrize(
    ("text", "bounded"),
    [
        (
            "I swim. Til Friday I'm at Horsforth, not Headingley. We moved.",
            "Til Friday I'm at Horsforth, not Headingley.",
        ),
        ("I work here, I'm at mum's until Friday, and I like it", "I'm at mum's until Friday"),
        ("I'm in Porto, back on the 24th. I like it.", "I'm in Porto, back on the 24th."),
        ("Til Friday I'm at Horsforth. You park behind.", "Til Friday I'm at Horsforth. You park behind."),
        ("This week I take Leo to school, Yan is away. We moved.", "This week I take Leo to school, Yan is away."),
        ("We moved. I'm at the office this week, and I like it", "I'm at the office this week"),
    ],
)
def test_a_bound_is_of_its_clause_or_of_all_that_it_begins(text: str, bounded: str) -> None:
    (bound, *_) = read_bounds(text, TUESDAY)
    assert text[slice(*clause_around(text, bound))].strip() == bounded


@pytest.mark.parametrize(
    "text", ["until March 0000", "through the 99th of May", "until 31/31", "for 999 years", "until 45:99"]
)
def test_what_no_calendar_has_bounds_nothing_or_far_off(text: str) -> None:
    bound = read_bound(text, TUESDAY)
    assert bound is None or bound.until > TUESDAY


PIECES = (
    "until till through for the next this weekend week month Friday 3 3rd May 12/25 1.9. 2026-02-30 noon 8am half five "
    "a couple of days back on between now and to end of Q3 Easter today tomorrow I'm not was , . ? ( ) é 中 İ "
    "bis hasta el domingo 8 jusqu'au 15 до пятницы 到 周五 金曜日まで 까지"
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES.split(" ")), max_size=40).map(" ".join)))
def test_any_text_is_read_and_its_bounds_are_ahead(text: str) -> None:
    assert all(bound.until > TUESDAY for bound in read_bounds(text, TUESDAY))
    until = holds_until(text, TUESDAY)
    assert until is None or until > TUESDAY


@pytest.mark.parametrize("text", ["diese Woche fange ich um 6 an", "ソラ、今日で3歳"])
def test_what_a_model_has_to_tell_ends_no_keyed_value(text: str) -> None:
    assert read_bounds(text, TUESDAY)
    assert holds_until(text, TUESDAY) is None
