"""What a newer text leaves as it is though it looks like a contradiction, each beside one that it resembles."""

from datetime import UTC, datetime

import pytest

from recollect.contradictions.cues.claims import Parsed
from recollect.contradictions.cues.documents import default_cue_rules
from recollect.contradictions.cues.reading import read_claims
from recollect.contradictions.cues.relations import relate
from recollect.contradictions.cues.statements import noun_phrases
from recollect.contradictions.relation import Relation, RelationKind

EARLIER, LATER = datetime(2026, 1, 9, 10, tzinfo=UTC), datetime(2026, 3, 10, 10, tzinfo=UTC)

# the earlier turn, what ends it, and what leaves it alone
PAIRS = [
    ("I use an insulin pump.", "I've given up my insulin pump.", "I haven't given up my insulin pump."),
    ("I sing in a choir on Mondays.", "I left the choir.", "It's not true that I left the choir."),
    (
        "I'm flying to Porto on 3 June.",
        "My flight to Porto was rebooked to 5 June.",
        "My flight to Porto wasn't rebooked to 5 June.",
    ),
    ("I have asthma.", "I take back what I said about my asthma.", "I won't take back what I said about my asthma."),
    ("I'm allergic to peanuts.", "I was kidding about the peanuts.", "I was not kidding about the peanuts."),
    (
        "I take paracetamol for headaches.",
        "I take ibuprofen instead of paracetamol until Friday.",
        "I'm not taking ibuprofen instead of paracetamol, not even for five days.",
    ),
    (
        "My grocery budget is 300 euros a month.",
        "My grocery budget is 350 euros a month now.",
        "My clothing budget is 80 euros a month now.",
    ),
    (
        "I have a Netflix subscription.",
        "I cancelled my Netflix subscription.",
        "I cancelled my Disney Plus subscription.",
    ),
    (
        "The design review is on Wednesday at 2 pm in Room 4.",
        "The design review stays on Wednesday, but it's in Room 9.",
        "The budget review stays on Wednesday too, but it's in Room 9.",
    ),
    (
        "My Italian class is on Tuesday evenings.",
        "This week my Italian class is on Thursday evening.",
        "This week my pottery class is on Thursday evening.",
    ),
    (
        "I ran the Berlin marathon last year.",
        "To be honest, I never ran the Berlin marathon.",
        "To be honest, I never ran the London marathon.",
    ),
    ("I pay online with PayPal.", "I don't pay with PayPal any more.", "I don't pay with Klarna any more."),
    ("I'm learning Portuguese.", "I've stopped learning Portuguese.", "I've stopped learning the ukulele."),
    ("Our server runs Debian.", "Our server runs Fedora now.", "My laptop runs Fedora now."),
    (
        "Write my emails in English.",
        "Just for today, write my emails in French.",
        "Just for today, write the meeting notes in French.",
    ),
    (
        "I have breakfast at 7:30 on weekdays.",
        "I have breakfast at 6:45 on weekdays now.",
        "I now have dinner at 6:45 on weekdays.",
    ),
    (
        "I work from home on Fridays.",
        "I work from the office on Fridays now.",
        "I work from the office on Mondays now.",
    ),
    (
        "My email is jo.harper@gmail.com.",
        "My new email address is jo@harper.org.",
        "My accountant's new email address is info@bellandco.com.",
    ),
    (
        "I work in the Frankfurt office.",
        "I'm working from the Zurich office for the next ten days.",
        "Our designer is working from the Zurich office for the next ten days.",
    ),
    (
        "I use Bitwarden as my password manager.",
        "I switched from Bitwarden to KeePassXC.",
        "Our admin switched from Bitwarden to KeePassXC.",
    ),
    (
        "I take loratadine for my hay fever.",
        "My doctor switched me from loratadine to fexofenadine.",
        "My doctor switched my son from loratadine to fexofenadine.",
    ),
    (
        "I drive a Skoda Octavia.",
        "I drive a Toyota Yaris now.",
        "I also drive a Toyota Yaris from the car-sharing club now and then.",
    ),
    ("We use Slack at work.", "We replaced Slack with Teams.", "In my last company we replaced Slack with Teams."),
    (
        "I drive a blue Fiat 500.",
        "My Fiat 500 is mint green now.",
        "My old Fiat 500, the one from college, was mint green.",
    ),
    ("I smoke about ten cigarettes a day.", "I quit smoking.", "I want to quit smoking at some point."),
    (
        "I like autumn best.",
        "I like spring best now, not autumn.",
        'There\'s a song that goes "I like spring best, not autumn".',
    ),
    (
        "I'm allergic to hazelnuts.",
        "Forget what I said about the hazelnuts.",
        "Forget what I said about the hazelnut bush in the garden, it's a hornbeam.",
    ),
    (
        "I earn 52,000 a year.",
        "Forget what I said about earning 52,000.",
        "What I said about earning 52,000, is that above average?",
    ),
    ("There are no animals at my place", "I got a dog.", "I don't have a dog here."),
    (
        "We deploy from the main branch.",
        "We are not deploying from the main branch until March 20.",
        "We are not deploying from the release branch until March 20, that idea was voted down.",
    ),
    (
        "My phone number is 07700 900123.",
        "I've got a new number, it's 07700 900456.",
        "Mum has got a new number, it's 07700 900456.",
    ),
    (
        "You can reach me on 0470 555 019.",
        "Until Monday you can reach me on 0470 555 088.",
        "Until Monday you can reach Sofie on 0470 555 088.",
    ),
]


def related(older: str, newer: str) -> Relation | None:
    rules = default_cue_rules()
    one = Parsed("1", older, EARLIER, "", read_claims(older, EARLIER, rules))
    return relate(one, Parsed("2", newer, LATER, "", read_claims(newer, LATER, rules)), rules)


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("older", "ends"), [(older, ends) for older, ends, _ in PAIRS])
def test_what_ends_it_does(older: str, ends: str) -> None:
    found = related(older, ends)
    assert found is not None
    assert found.kind is not RelationKind.UNDECIDED


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("older", "leaves"), [(older, leaves) for older, _, leaves in PAIRS])
def test_what_resembles_that_leaves_it_alone(older: str, leaves: str) -> None:
    assert related(older, leaves) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My new weekly grocery budget is 80", [("budget", ("groceri",), True)]),
        ("My budget for books is 60", [("budget", ("book",), True)]),
        ("I work in the Frankfurt office", [("offic", ("frankfurt",), False)]),
        ("I'm on the student plan", [("plan", ("student",), False)]),
        ("We raised the holiday budget", [("budget", ("holidai",), True)]),
        ("I moved", []),
    ],
)
def test_things_are_told_apart_by_the_words_before_them(
    text: str, expected: list[tuple[str, tuple[str, ...], bool]]
) -> None:
    said = Parsed("1", text, EARLIER, "", ())
    found = noun_phrases(said, (0, len(text)), default_cue_rules())
    assert [(one.noun, one.told_by, one.is_topic) for one in found] == expected
