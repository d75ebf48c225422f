"""The cue rules as a judge: what others see of them (P-24)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recollect.contradictions.cues import CueJudge
from recollect.contradictions.relation import Profile, RelationKind, Said

AT = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
JUDGE = CueJudge()


def said(text: str, days: int = 0, **changes: Any) -> Said:
    return replace(Said(id=f"{days}-{text}", text=text, at=AT + timedelta(days=days)), **changes)


@pytest.mark.spec("P-24")
def test_each_of_a_batch_is_judged_by_itself_in_its_order() -> None:
    older = [said("I have a cat."), said("I live in Paris."), said("I live in Rome.", speaker="Ben")]
    found = JUDGE.judge(said("I moved to Lyon.", 2), older)
    assert [one and one.kind for one in found] == [None, RelationKind.SUPERSEDES, None]
    assert JUDGE.judge(said("I moved to Lyon.", 2), []) == []


@pytest.mark.spec("P-24")
def test_a_denial_of_nothing_named_takes_back_the_value_that_it_follows() -> None:
    blood, cat = said("Blood group A"), said("I have a cat.")
    denial = said("That was my sister on my phone", 2)
    assert JUDGE.judge(denial, [blood, cat]) == [None, None]
    found, other = JUDGE.judge(replace(denial, follows=blood.id), [blood, cat])
    assert found is not None
    assert (found.kind, found.ended) == (RelationKind.RETRACTS, ((0, len(blood.text)),))
    assert other is None


@pytest.mark.spec("P-24")
def test_a_statement_by_itself() -> None:
    assert JUDGE.profile(said("Hm!")) == Profile()
    assert JUDGE.profile(said("I live in Paris.")).recognised
    assert JUDGE.profile(said("I misspoke, I have no sister.")).retracts
    until = JUDGE.profile(said("I have a cat. I'm staying in Cardiff until Friday."))
    assert until.may_end
    (bound,) = {(one.span, one.until) for one in until.bounds}
    assert bound[0][0] > 0
    assert timedelta(days=3) < bound[1] - AT < timedelta(days=5)


def test_two_profiles_of_one_record_are_one() -> None:
    states, ends = Profile(states=True, recognised=True), Profile(may_end=True, retracts=True)
    assert states | ends == Profile(states=True, recognised=True, may_end=True, retracts=True)
