"""How many of the messages that hold for a while only are bound in time, and how many changes are, wrongly."""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from datetime import UTC, datetime
from pathlib import Path

from infra.tools.judge.examples import ONLY, Month, written
from recollect.contradictions.judge import Said
from recollect.contradictions.trained import TrainedJudge
from recollect.ports import PairModel

_AT = datetime(2026, 11, 4, 12, tzinfo=UTC)
"""A Wednesday."""
_Row = tuple[str, str, bool]
"""Language, text, whether it holds for a while only."""


def lapsing_lines(data: Path, months: Sequence[Month], model: PairModel, held: Set[str]) -> Iterator[str]:
    """In English and in other languages, of all writers and of those that are held."""
    judge, rows = TrainedJudge(model), dict(_rows(data, months))
    for name, groups in (("all writers", None), ("writers left out", held)):
        found: Counter[tuple[bool, bool, bool]] = Counter()
        for (lang, text, lapses), group in rows.items():
            if groups is None or group in groups:
                bound = bool(judge.profile(Said(id="", text=text, at=_AT, speaker="")).bounds)
                found[lang == "en", lapses, bound] += 1
        for english, languages in ((True, "English"), (False, "other languages")):
            lapsing, lasting = (_share(found, english, lapses) for lapses in (True, False))
            yield f"bound in time, {name}, {languages}: {lapsing} that hold for a while, {lasting} changes"


def _share(found: Counter[tuple[bool, bool, bool]], english: bool, lapses: bool) -> str:
    bound = found[english, lapses, True]
    return f"{bound} of {bound + found[english, lapses, False]}"


def _rows(data: Path, months: Sequence[Month]) -> Iterator[tuple[_Row, str]]:
    for one in written(data):
        if one.kind == "temporary" or one.label:
            yield (one.lang, one.new, one.kind == "temporary"), one.group
    for month in months:
        for new, _ in month.changes:
            yield (month.lang, new.words, False), month.group
        for (new, _), kind in month.near.items():
            if ONLY.search(kind):
                yield (month.lang, new.words, True), month.group
