"""A judge for tests: statements by the matter that they are of. Within a matter a newer one changes each older one."""

from collections.abc import Iterator
from itertools import permutations

from recollect.adapters.judges.table_pairs import TablePairModel
from recollect.contradictions.pairs import PairScores

TELLS = PairScores(changed=0.97)
ENDS = PairScores(changed=0.97, replaced=0.0, ended=1.0)
CHANGES_PART = PairScores(changed=0.97, replaced=0.0, part=1.0)
TAKES_BACK = PairScores(changed=0.97, replaced=0.0, ended=1.0, retracted=0.9)

REMAINS = "My grandmother Zelda bakes lemon cakes on Sundays with cardamom."

MATTERS: dict[str, dict[str, PairScores]] = {
    "home": {
        "I live in Paris.": TELLS,
        "I moved to Lyon.": TELLS,
        "I moved to Rome.": TELLS,
        "I moved to Oslo.": TELLS,
        "I live in Nice.": TELLS,
        "I live in Lyon.": TELLS,
        "I live in Oslo.": TELLS,
        "I moved from Paris to Berlin.": TELLS,
        "I no longer live in Paris.": ENDS,
        f"I live in Paris. {REMAINS}": TELLS,
    },
    "lyon": {
        "I moved to Lyon.": TELLS,
        "I misspoke, I never moved to Lyon.": TAKES_BACK,
        "I misspoke, I didn't move to Lyon.": TAKES_BACK,
        "I was wrong, I don't live in Lyon.": TAKES_BACK,
    },
    "meat": {
        "I eat meat.": TELLS,
        "I eat meat every day.": TELLS,
        "I eat meat with my brothers.": TELLS,
        "I no longer eat meat.": ENDS,
        "I eat meat again.": TELLS,
    },
    "sister": {
        "I have a sister.": TELLS,
        "I misspoke, I have no sister.": TAKES_BACK,
        "I misspoke, I do not have a sister.": TAKES_BACK,
    },
    "meeting": {
        "The meeting is on Monday at 3pm": TELLS,
        "The meeting is on Tuesday at 3pm": TELLS,
        "The meeting is still Tuesday but at 4pm now": CHANGES_PART,
        "The meeting is still Tuesday but at 5pm now": CHANGES_PART,
        "The meeting is on Friday at 9am": TELLS,
        "The meeting is on Monday at 9am.": TELLS,
    },
    "job": {
        "I work at Acme as an engineer.": TELLS,
        "Same job, new title: I'm a manager now.": CHANGES_PART,
        "I quit my job at Acme.": ENDS,
    },
    "bank": {"I bank with Northgate.": TELLS, "My accounts are with Coral Bank now.": TELLS},
    "weights": {"I lift weights.": TELLS, "I'm not allowed to lift weights.": ENDS},
    "dentist": {
        "My dentist is Dr Woods.": TELLS,
        "My dentist is Dr Stone now.": TELLS,
        f"My dentist is Dr Woods. {REMAINS}": TELLS,
    },
    "colour": {"My favourite colour is blue.": TELLS, "My favourite colour is green.": TELLS},
    "boiler": {"Our boiler cover is with Hestia.": TELLS, "We took our boiler cover to Novaheat.": TELLS},
    "heating": {"The heating is broken.": TELLS, "the engineer came, heating's working": ENDS},
    "school": {"Oakfield Primary": TELLS, "I misspoke, wrong one.": TAKES_BACK},
}


def rows(matters: dict[str, dict[str, PairScores]]) -> Iterator[tuple[tuple[str, str], PairScores]]:
    """Each ordered pair of two statements of a matter, with what the newer one does."""
    for statements in matters.values():
        for newer, older in permutations(statements, 2):
            yield (newer, older), statements[newer]


def pair_model() -> TablePairModel:
    """That of these matters."""
    return TablePairModel(dict(rows(MATTERS)))
