"""The trained judge behind the door: probabilities of pairs in, relations out (P-24).

A long message is read in parts, since a model of pairs reads so many pieces; what ends of an older message is the
clause. A clause with a bound in time is asked about as if it had none: whether it would change the older one for good
is whether it does for a while.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from recollect.contradictions.binding import binding_bound, clause_around
from recollect.contradictions.bounds import Bound, BoundKind
from recollect.contradictions.ended_words import ended_spans
from recollect.contradictions.judge import Profile, Relation, RelationKind, Said, TimeBound
from recollect.contradictions.pairs import STANDS, EndedPiece, PairScores, StatementPair
from recollect.contradictions.parts import Span, clause_spans, parts_within
from recollect.contradictions.splice import spliced
from recollect.ports import PairModel
from recollect.text.coming_dates import ComingDate, coming_dates, names_a_day
from recollect.text.sentences import count_words, only_asks, words_said

LEAST_CONFIDENCE = 0.1
"""Below it nothing is reported, whatever the rules' thresholds are."""

LEAST_DONE = 0.86
"""The probability of telling what is done from which on an open day ("on Saturday") is taken for past.

Of what is to come 1 in 20 messages of languages that were left out reaches it (`infra/tools/judge/tenses.py`).
"""

NEWER_TOKENS, OLDER_TOKENS = 56, 40
"""Of one part, by the estimate that a token has four characters: a little less than the pieces that a model reads."""
_MOST_PARTS = 3
_MOST_CLAUSES = 24
_LEAST_WORDS = 2
_REMEMBERED_PAIRS = 512
_SURE = 0.5
_NEAR_THE_BEST = 0.9
_ENDS_WITH_THE_BEST = 0.7
"""A clause ends with the one that ends most surely, from this share of its probability on."""
_LEAST_OF_A_CLAUSE = 0.05
"""A clause without its message is read less surely; where none reaches this, none can be told."""
_LOOSE = " ,;:"
_LOOSE_BLANK = re.compile(r"\s+(?=[,.;!?])")
BOUND = "bound"


class TrainedJudge:
    """Without a model it judges nothing: then keys alone settle. Raises NotReady where the model cannot be loaded."""

    def __init__(self, model: PairModel | None) -> None:
        self._model = model
        self._known: dict[StatementPair, PairScores] = {}

    def profile(self, said: Said) -> Profile:
        """What the model says at a first look may end something."""
        states, bound = self.states(said), self._bound(said)
        return Profile(
            states=states,
            may_end=states and self._telling(_Told.of(said, bound)) is not None,
            bounds=self._bounds(said, bound),
        )

    def holds_until(self, said: Said) -> datetime | None:
        """The exclusive end that its words set; None where it holds for good, or a model has to say."""
        bound = self._bound(said)
        return None if bound is None else bound.until_by_words

    def states(self, said: Said) -> bool:
        """What only asks states nothing, nor does a word alone ("thanks")."""
        return count_words(said.text) >= _LEAST_WORDS and not only_asks(said.text)

    def judge(self, newer: Said, older: Sequence[Said], least: float = 0.0) -> list[Relation | None]:
        """What the newer does to each; a model is asked once for all of them, and again where one changed.

        What is said again in the same words changes nothing.
        """
        told = self._telling(_Told.of(newer, self._bound(newer))) if older else None
        if told is None:
            return [None] * len(older)
        words = words_said(newer.text)
        judged = [one for one in older if words_said(one.text) != words]
        asked = _Asked(newer, told, least)
        beside = self._beside(self._each(told.lasting, judged))
        found = dict(zip((one.id for one in judged), beside, strict=True))
        relations = {one.id: self._relation(asked, one, found[one.id]) for one in judged}
        dated = {one.id: self._dated(relations[one.id], asked, one) for one in judged}
        return [dated.get(one.id) for one in older]

    def probabilities(self, newer: Said, older: Sequence[Said]) -> list[float]:
        """That the newer changes each of the older ones, of each pair by itself: before they are seen together."""
        told = self._telling(_Told.of(newer, self._bound(newer)))
        return [one.best.changed for one in self._each(told.lasting if told is not None else (), older)]

    def _beside(self, found: Sequence["_Strongest"]) -> list["_Strongest"]:
        """Each as sure as it is beside the others."""
        changed = [one.best.changed for one in found]
        sure = self._model.beside(changed) if self._model is not None else changed
        return [replace(one, best=replace(one.best, changed=share)) for one, share in zip(found, sure, strict=True)]

    def _bound(self, said: Said) -> Bound | None:
        """The bound that a reader of dates finds, unless the model is sure that what is said holds for good.

        Nor does a span bind what was done in it: "sent two V7s this month".
        """
        bound = binding_bound(said.text, said.at)
        if bound is None or self._model is None:
            return bound
        was_done = bound.kind is BoundKind.SPAN and max(self._model.tells_done([said.text])) >= LEAST_DONE
        return bound if not was_done and all(self._model.may_pass([said.text])) else None

    def _bounds(self, said: Said, bound: Bound | None) -> tuple[TimeBound, ...]:
        if bound is None:
            return ()
        sure = self._model is not None and bound.names_end
        return (TimeBound(clause_around(said.text, bound), bound.until, BOUND, sure),)

    def _telling(self, told: "_Told") -> "_Told | None":
        """Of a message the parts that may change something at a first look; None without one.

        Of a long one most may not: asked about with each older statement, they would be most of what it costs.
        """
        texts = [*told.lasting, *([told.unbounded] if told.unbounded else ())]
        passed = self._model.may_change(texts) if self._model is not None else ()
        telling = [text for text, passes in zip(texts, passed, strict=False) if passes]
        if not telling:
            return None
        lasting = tuple(text for text, passes in zip(told.lasting, passed, strict=False) if passes)
        return replace(told, lasting=lasting, unbounded=told.unbounded if told.unbounded in telling else "")

    def _relation(self, asked: "_Asked", older: Said, scores: "_Strongest") -> Relation | None:
        if scores.best.changed < LEAST_CONFIDENCE and asked.told.bound is not None:
            return self._held_over(asked, older)
        return self._changed(asked, older, scores) if scores.best.changed >= LEAST_CONFIDENCE else None

    def _dated(self, relation: Relation | None, asked: "_Asked", older: Said) -> Relation | None:
        """With the day for which the change is announced: that a statement names which itself names none."""
        newer, ends = asked.newer, (RelationKind.SUPERSEDES, RelationKind.CHANGES_PART)
        if relation is None or relation.kind not in ends or asked.told.bound is not None:
            return relation
        if relation.confidence < asked.least:
            return relation
        coming = self._coming(asked)
        ended = relation.ended or ((0, len(older.text)),)
        if coming is None or any(names_a_day(older.text[slice(*span)]) for span in ended):
            return relation
        if not self._is_of_the_change(coming, newer, older):
            return relation
        return replace(relation, kind=RelationKind.SUPERSEDES, since=coming.begins, ended=ended, merged=None)

    def _coming(self, asked: "_Asked") -> ComingDate | None:
        """The first day ahead; of what is done the first of which the words say that it is to come."""
        days = coming_dates(asked.newer.text, asked.newer.at)
        if days and days[0].open and self._is_done(days[0], asked):
            return next((one for one in days if not one.open), None)
        return next(iter(days), None)

    def _is_done(self, day: ComingDate, asked: "_Asked") -> bool:
        """Whether a part that names the day tells of what is done, by the first look at it, which is kept."""
        words = asked.newer.text[slice(*day.span)]
        parts = [part for part in asked.told.lasting if words in part]
        told = self._model.tells_done(parts) if self._model is not None else []
        return any(share >= LEAST_DONE for share in told)

    def _is_of_the_change(self, coming: ComingDate, newer: Said, older: Said) -> bool:
        """Whether the clause that names the day is what changes the older one."""
        clauses = clause_spans(newer.text)
        if not 1 < len(clauses) <= _MOST_CLAUSES:
            return len(clauses) <= 1
        texts = [newer.text[slice(*span)] for span in clauses]
        changed = [self._scores((text,), [older])[0].changed for text in texts]
        of_the_day = [
            score
            for score, (start, end) in zip(changed, clauses, strict=True)
            if start < coming.span[1] and coming.span[0] < end
        ]
        return max(of_the_day, default=0.0) >= _NEAR_THE_BEST * max(changed)

    def _held_over(self, asked: "_Asked", older: Said) -> Relation | None:
        told = asked.told
        (scores,) = self._each((told.unbounded,) if told.unbounded else (), [older])
        if scores.best.changed < LEAST_CONFIDENCE or told.bound is None:
            return None
        found = self._changed(asked, older, scores)
        ended = found.ended or ((0, len(older.text)),)
        return replace(found, kind=RelationKind.OVERRIDES, until=told.bound.until, ended=ended, merged=None)

    def _changed(self, asked: "_Asked", older: Said, scores: "_Strongest") -> Relation:
        best, whole = scores.best, (0, len(older.text))
        found = Relation(kind=RelationKind.SUPERSEDES, rule=self._rule, confidence=best.changed, ended=(whole,))
        unsure = replace(found, kind=RelationKind.UNDECIDED, ended=())
        in_part = best.part > max(best.replaced, best.ended)
        merged = spliced(older.text, asked.newer.text) if in_part and len(clause_spans(older.text)) <= 1 else None
        if best.retracted >= _SURE:
            found = replace(found, kind=RelationKind.RETRACTS)
        elif merged is not None:
            return replace(found, kind=RelationKind.CHANGES_PART, merged=merged, ended=())
        if best.changed < asked.least:
            return unsure if in_part else found
        ended = self._ended(scores, older)
        ended = (() if in_part else (whole,)) if ended is None else ended
        return replace(found, ended=ended) if ended and not (in_part and whole in ended) else unsure

    def _ended(self, scores: "_Strongest", older: Said) -> tuple[Span, ...] | None:
        """The words that no longer hold; where a model finds none, the clauses.

        Empty where none of several clauses can be told; None of one clause.
        """
        spans = clause_spans(older.text)
        words = ended_spans(older.text, self._ended_pieces(scores.pairs, older))
        return words or (self._ended_clauses(scores.changing, older, spans) if len(spans) > 1 else None)

    def _ended_pieces(self, pairs: Sequence[StatementPair], older: Said) -> list[EndedPiece]:
        """Where several parts of the newer change a piece, by the one that does most surely."""
        starts = dict(placed_parts(older.text))
        found = self._model.ended_pieces(pairs) if self._model is not None else []
        ended: dict[Span, float] = {}
        for pair, pieces in zip(pairs, found, strict=True):
            for one in pieces:
                place = (one.start + starts[pair.older], one.end + starts[pair.older])
                ended[place] = max(one.ended, ended.get(place, 0.0))
        return [EndedPiece(*place, probability) for place, probability in ended.items()]

    def _ended_clauses(self, parts: Sequence[str], older: Said, spans: Sequence[Span]) -> tuple[Span, ...]:
        """Those that no longer hold; empty where none can be told, or where there are too many to ask about."""
        if len(spans) > _MOST_CLAUSES:
            return ()
        each = [replace(older, text=older.text[slice(*span)]) for span in spans]
        scores = self._scores(parts, each)
        least = max(_LEAST_OF_A_CLAUSE, _ENDS_WITH_THE_BEST * max(one.changed for one in scores))
        return tuple(span for span, one in zip(spans, scores, strict=True) if one.changed >= least)

    def _scores(self, parts: Sequence[str], older: Sequence[Said]) -> list[PairScores]:
        return [one.best for one in self._each(parts, older)]

    def _each(self, parts: Sequence[str], older: Sequence[Said]) -> list["_Strongest"]:
        """What the parts of the newer do to each older one."""
        if self._model is None or not parts or not older:
            return [_Strongest()] * len(older)
        olds = [parts_read(one.text, OLDER_TOKENS) for one in older]
        pairs = [StatementPair(part, old) for some in olds for old in some for part in parts]
        scores = iter(self._related(self._model, pairs))
        rows = ([(StatementPair(part, old), next(scores)) for old in some for part in parts] for some in olds)
        return [_Strongest.of(row) for row in rows]

    def _related(self, model: PairModel, pairs: Sequence[StatementPair]) -> list[PairScores]:
        """Each pair is asked once while it is among the last ones: equal statements are judged alike.

        So what was rehearsed, or is tried again, costs nothing.
        """
        known = self._known
        asked = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        found = known | dict(zip(asked, model.relate(asked) if asked else (), strict=True))
        self._known = dict(islice(found.items(), max(0, len(found) - _REMEMBERED_PAIRS), None))
        return [found[pair] for pair in pairs]

    @property
    def _rule(self) -> str:
        return self._model.version if self._model is not None else ""


@dataclass(frozen=True, slots=True)
class _Strongest:
    """Of what parts of a newer statement do to those of an older one the strongest.

    `changing`: the newer parts that may do anything to it; `pairs`: those of which something is reported.
    """

    best: PairScores = STANDS
    changing: tuple[str, ...] = ()
    pairs: tuple[StatementPair, ...] = ()

    @classmethod
    def of(cls, row: Sequence[tuple[StatementPair, PairScores]]) -> "_Strongest":
        best = max((scores for _, scores in row), key=lambda one: one.changed, default=STANDS)
        changing = dict.fromkeys(pair.newer for pair, scores in row if scores.changed > 0)
        return cls(best, tuple(changing), tuple(pair for pair, one in row if one.changed >= LEAST_CONFIDENCE))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A newer statement in its parts; of what is less sure than `least` only kind and confidence are asked for."""

    newer: Said
    told: "_Told"
    least: float


@dataclass(frozen=True, slots=True)
class _Told:
    """A newer message: what it says for good, in parts; its bound, and the bounded sentence without it."""

    lasting: tuple[str, ...]
    bound: Bound | None = None
    unbounded: str = ""

    @classmethod
    def of(cls, newer: Said, bound: Bound | None) -> "_Told":
        text = newer.text
        if bound is None:
            return cls(parts_read(text, NEWER_TOKENS))
        (start, end), around = bound.span, clause_around(text, bound)
        lasting = f"{text[: around[0]]} {text[around[1] :]}".strip(_LOOSE)
        return cls(parts_read(lasting, NEWER_TOKENS), bound, _without(text[around[0] : around[1]], text[start:end]))


def _without(sentence: str, bound: str) -> str:
    return _LOOSE_BLANK.sub("", sentence.replace(bound, "", 1)).strip()


def parts_read(text: str, most_tokens: int) -> tuple[str, ...]:
    """The parts of a text that are judged, each by itself; what comes after them is not read."""
    return tuple(islice(parts_within(text, most_tokens), _MOST_PARTS))


def placed_parts(text: str) -> Iterator[tuple[str, int]]:
    """Those of an older statement, each with where it begins."""
    at = 0
    for part in parts_read(text, OLDER_TOKENS):
        at = text.index(part, at)
        yield part, at
        at += len(part)
