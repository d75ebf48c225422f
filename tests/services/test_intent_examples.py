"""The correctness properties of what is answered by a hundred examples, on both (R-81, R-82).

What is answered over a store of random records is compared with what the document says of them, worked out here from
what was told: window, privacy, match, formula, threshold, order. Those of any text are in tests/intent.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedded.asking import logged
from recollect.core.time import from_iso
from recollect.intent.retrieve import IntentAnswer, IntentQuestion
from recollect.retrieval.filters import SearchFilters
from recollect.rules.groups import IntentRules, Rules
from services.intent_asking import NOON, asked, draft, the_line, told
from services.serving import Service

a_hundred = settings(max_examples=100, deadline=None)

SPACES = ("Health", "Fitness", "Travel")
WORDS = (
    "blood", "ridge", "Walked", "ran", "SLEEP", "Straße", "давление", "шаги", "сон", "xarajat", "mathématiques",
    "Ελλάδα", "血压", "ضغط", "रक्तचाप",
)  # fmt: skip
"""None of them a stop word, a date, a category or inside of another."""
STOP_WORDS = ("the", "What", "меня", "les", "und", "из", "क्या")


@dataclass(frozen=True, slots=True)
class Told:
    id: str
    text: str
    days: float
    space: str | None
    private: bool
    deleted: bool
    views: int

    @property
    def at(self) -> datetime:
        return NOON - timedelta(days=self.days)

    def holds(self, word: str) -> bool:
        return word.upper().casefold() in self.text.upper().casefold()


@dataclass(frozen=True, slots=True)
class Diary:
    service: Service
    records: Sequence[Told]

    def within(self, days: float) -> list[Told]:
        """What is there of the last days, private or not."""
        return [one for one in self.records if not one.deleted and one.days <= days]

    def ask(self, text: str) -> IntentAnswer:
        """The use case's answer, though the rules allow for more than fifteen results (R-P8)."""
        question = IntentQuestion(text=text, filters=SearchFilters(now=NOON, as_of=NOON), wanted=100)
        return self.service.app.intent.retrieve(
            self.service.scope(), question, Rules(intent=IntentRules(max_results=100))
        )


def _random_drafts(chance: random.Random) -> Iterator[dict[str, Any]]:
    """Sixty over forty days; of some there are three of one instant and the same words, seen more or less often."""
    for place in range(60):
        words, days = chance.sample(WORDS, chance.randint(2, 5)), chance.uniform(0.01, 40)
        marks = {"is_private": chance.random() < 0.15, "views": chance.randint(0, 3)}
        space = {"space_id": chance.choice(SPACES)} if chance.random() < 0.8 else {}
        yield draft(f"{' '.join(words)} {place}", days, **marks, **space)
        for views in range(2 * (place % 20 == 0)):
            yield draft(f"{' '.join(words)} {place}{'xy'[views]}", days, **{**marks, "views": 5 * views + 4}, **space)


@pytest.fixture(scope="module")
def diary(one_for_all: Service) -> Diary:
    """Random records, every tenth of them deleted."""
    drafts = list(_random_drafts(random.Random(7)))
    ids = told(one_for_all, *drafts)
    for gone in ids[::10]:
        one_for_all.delete(f"events/{gone}")
    return Diary(one_for_all, [_told(ids, place, one) for place, one in enumerate(drafts)])


def _told(ids: Sequence[str], place: int, one: dict[str, Any]) -> Told:
    days = (NOON - from_iso(one["timestamp"])) / timedelta(days=1)
    marks = (one.get("space_id"), one["is_private"], place % 10 == 0, one["views"])
    return Told(ids[place], one["content"], days, *marks)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of random words, which may name a space, and how it is asked."""

    words: list[str]
    named: str | None
    active: str | None
    days: float
    wanted: int

    @property
    def keywords(self) -> list[str]:
        return [*self.words, "in", self.named] if self.named else self.words

    def allows(self, one: Told) -> bool:
        """Whether the record may be scored at all: not private, and of a space that is reached."""
        return not one.private and (self.active is None or one.space in {self.active, self.named} - {None})

    def matches(self, one: Told) -> bool:
        """Whether it holds a word, or its space is named."""
        return any(map(one.holds, self.words)) or (self.named is not None and one.space == self.named)

    def relevance(self, one: Told) -> float:
        share = sum(map(one.holds, self.words)) / len(self.keywords)
        return 0.6 * share + 0.4 * (1 - one.days / 90)

    def best(self, matching: Sequence[Told]) -> list[Told]:
        """In the document's order, fifteen at most; of a space that is named the best one is among them."""
        scored = [one for one in matching if self.relevance(one) >= 0.3]
        ranked = sorted(scored, key=lambda one: (self.relevance(one), one.at.date(), one.views), reverse=True)
        first = [one for one in ranked if self.named is not None and one.space == self.named][:1]
        wanted = [*first, *(one for one in ranked if one not in first)][: min(15, self.wanted)]
        return [one for one in ranked if one in wanted]


asking = st.builds(
    Asked,
    words=st.lists(st.sampled_from(WORDS), min_size=3, max_size=6),
    named=st.sampled_from([None, None, *SPACES]),
    active=st.sampled_from([None, *SPACES]),
    days=st.floats(0.5, 45),
    wanted=st.integers(1, 3) | st.integers(1, 100),
)


@pytest.mark.spec("R-81", "R-82", "R-P13", "P-15", "P-17")
@pytest.mark.spec("R-P4", "R-P5", "R-P6", "R-P7", "R-P8", "R-P9", "R-P10", "R-P11", "R-P12", "R-P14", "R-P15", "R-P16")
@a_hundred
@given(query=asking, case=st.sampled_from([str, str.upper, str.lower, str.swapcase]))
def test_what_is_answered_is_what_the_document_says_of_the_records(
    diary: Diary, query: Asked, case: Callable[[str], str]
) -> None:
    given = {} if query.active is None else {"active_space_id": query.active}
    with logged() as lines:
        answer = asked(
            diary.service,
            case(" ".join(query.keywords)),
            time_window={"last_days": query.days},
            top_k=query.wanted,
            **given,
        )
    inside = diary.within(query.days)
    allowed = [one for one in inside if query.allows(one)]
    matching = [one for one in allowed if query.matches(one)]
    best = query.best(matching)
    assert [one["id"] for one in answer["results"]] == [one.id for one in best]
    assert [one["score"] for one in answer["results"]] == pytest.approx([*map(query.relevance, best)], abs=1e-5)
    stats = answer["diagnostics"]["stats"]
    assert (stats["records_considered"], stats["records_matched"]) == (len(inside), len(matching))
    assert stats["records_excluded_privacy"] == len(inside) - len(allowed)
    assert "fallback" not in answer["diagnostics"]
    complete = the_line(lines, "retrieval_complete")
    assert [one["id"] for one in complete["topScores"]] == [one.id for one in best[:10]]
    assert complete["crossSpace"] == (query.named is not None and query.named != query.active)
    assert not [one.id for one in diary.records if (one.private or one.deleted) and one.id in str(lines)]


@pytest.mark.spec("R-P17", "R-P18", "R-P8", "R-P11", "R-81", "R-82", "R-64", "R-89", "R-105", "R-109")
@a_hundred
@given(
    words=st.lists(st.sampled_from(WORDS), max_size=2) | st.lists(st.sampled_from(STOP_WORDS), min_size=3, max_size=8),
    noise=st.sampled_from(["", " !", " ??", " - -"]),
)
def test_short_queries_and_stop_words_alone_are_answered_by_date(diary: Diary, words: list[str], noise: str) -> None:
    answer = diary.ask(" ".join(words) + noise)
    reason = "stop_words_only" if len(words) > 2 else "short_query" if words else "no_keywords"
    assert (answer.fallback, answer.stats.records_considered) == (reason, len(diary.within(14)))
    newest = sorted(
        (one for one in diary.within(14) if not one.private), key=lambda one: (one.at, one.id), reverse=True
    )
    assert [one.event.id for one in answer.results] == [one.id for one in newest[:15]]
