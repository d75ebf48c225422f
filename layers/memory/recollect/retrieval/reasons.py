"""Why a line is there, for people: each signal's name in words, and one sentence made of the strongest signals."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from recollect.text.terms import is_stop_word, split_words, terms

if TYPE_CHECKING:
    from recollect.retrieval.ranking import Ranked

SIGNALS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "similarity": "closeness in meaning, 0 to 1",
        "cosine": "closeness in meaning, as the vectors have it",
        "weighted_similarity": "closeness in meaning, rare words counting more",
        "distinct_similarity": "closeness in meaning, without what all that was found shares",
        "bm25": "words of the question, rare ones counting more",
        "exchange_words": "words of the question, here and in what was said around it",
        "named_date": "said on a date that the question names",
        "named_speaker": "said by the one whom the question names",
        "said_by_user": "said by the user, not by the assistant",
        "exchange": "how well the best line of its exchange matches",
        "beside": "how well the best line right beside it matches",
        "recent": "matches, and was said lately",
        "outdone": "a newer line says something like it (lowers)",
        "renewed": "says something like an older line anew",
        "relevance": "how much it is needed for the answer",
        "keyword_match": "share of the question's words that it holds",
        "recency": "how new it is",
    }
)
"""What each signal of an explanation is called; docs/retrieval.md has the same words."""

RELATED: Final = 0.7
"""The similarity from which two texts count as related (A-28)."""

_NEAREST = 0.8
_CLEAR = 0.3
_NEEDED = 0.7
_WORDS_FIRST = 3.0
_MERELY_NEAREST = 0.3
_LENT = 1.2
_MOST_WORDS = 3
_MOST_CLAUSES = 2
_MOST_READ = 20_000
_OWN = (
    "weighted_similarity",
    "distinct_similarity",
    "bm25",
    "exchange_words",
    "named_date",
    "named_speaker",
    "said_by_user",
)
_QUESTION = "the question"
_REPLACES = "says what replaced an earlier line"

Clause = tuple[float, str]
Numbers = Mapping[str, float]


def because(
    ranked: "Ranked | None",
    question: str,
    content: str,
    *,
    speaker: str | None = None,
    replaces: bool = False,
    also: Sequence[str] = (),
    place: int | None = None,
) -> str:
    """One sentence on why a line with this content is there, by the two signals that tell most for it to a person.

    Shared words count thrice: everybody sees them.

    `ranked` is how a search saw it, None where none did, and `place` the one among its hits. `replaces`: it stands in
    the place of older ones. `also` says what else chose it. The sentence quotes at most three words of the question.
    Where nothing else tells for it, that is said, with its place and how near it is in meaning.
    """
    found = sorted(_clauses(ranked, question, content, speaker), key=lambda one: -one[0]) if ranked else []
    strongest = [text for _, text in found[:_MOST_CLAUSES]]
    told = [*([_REPLACES] if replaces else []), *strongest, *also]
    parts = told if strongest or also or (told and not ranked) else [*told, _loosely(ranked, place)]
    whole = " and ".join((", ".join(parts[:-1]), parts[-1]) if len(parts) > 1 else parts)
    first, asked, rest = whole.partition(_QUESTION)
    whole = f"{first}{asked}{rest.replace(_QUESTION, 'it')}"
    outdone = ranked is not None and ranked.signals.get("outdone", 0.0) >= _CLEAR
    return f"{whole[0].upper()}{whole[1:]}{', but a newer line says something like it' if outdone else ''}."


def _clauses(ranked: "Ranked", question: str, content: str, speaker: str | None) -> Iterator[Clause]:
    """What tells for it, each with its share of the score; where nothing was scored, it is one of the newest."""
    if not ranked.signals:
        yield 0.0, "is among the newest"
    yield from _by_words(ranked, shared_words(question, content))
    yield from _by_meaning(ranked)
    yield from _by_what_is_asked(ranked.signals, ranked.shares, speaker)
    yield from _by_its_place(ranked.signals, ranked.shares)


def _loosely(ranked: "Ranked | None", place: int | None) -> str:
    """Of what nothing speaks for, what tells it from others of which that is so."""
    near = ranked.signals.get("similarity") if ranked else None
    found = [] if place is None else [f"number {place} of what {_QUESTION} finds"]
    found += [] if near is None else [f"{100 * near:.0f} % close in meaning"]
    about = f" ({', '.join(found)})" if found else ""
    return f"is only loosely related to {_QUESTION}{about}"


def _by_what_is_asked(signals: Numbers, shares: Numbers, speaker: str | None) -> Iterator[Clause]:
    if signals.get("relevance", 0.0) >= _NEEDED and "relevance" in shares:
        yield shares["relevance"], "seems to be needed for the answer"
    if signals.get("named_date", 0.0) > 0:
        yield shares["named_date"], f"was said when {_QUESTION} asks about"
    if signals.get("named_speaker", 0.0) > 0:
        yield shares["named_speaker"], f"was said by {speaker or 'the one'}, whom {_QUESTION} names"


def _by_its_place(signals: Numbers, shares: Numbers) -> Iterator[Clause]:
    """By what stands around it, and by its age."""
    lift = max(signals.get("exchange", 0.0), signals.get("beside", 0.0))
    own = sum(shares.get(name, 0.0) for name in _OWN)
    if lift > _LENT * own and lift > 0:
        yield shares.get("exchange", 0.0) + shares.get("beside", 0.0), f"stands beside what matches {_QUESTION}"
    if max(signals.get("recent", 0.0), signals.get("recency", 0.0)) >= _CLEAR:
        yield max(shares.get("recent", 0.0), shares.get("recency", 0.0)), "is among the newest that match"
    if signals.get("renewed", 0.0) >= _CLEAR:
        yield shares["renewed"], "says anew what was said before"


def _by_words(ranked: "Ranked", words: Sequence[str]) -> Iterator[Clause]:
    weight = sum(ranked.shares.get(name, 0.0) for name in ("bm25", "exchange_words", "keyword_match"))
    if words and weight > 0:
        quoted = [f"“{word}”" for word in words]
        listed = " and ".join((", ".join(quoted[:-1]), quoted[-1]) if len(quoted) > 1 else quoted)
        yield _WORDS_FIRST * weight, f"shares the word{'s' if len(words) > 1 else ''} {listed} with {_QUESTION}"


def _by_meaning(ranked: "Ranked") -> Iterator[Clause]:
    """By the calibrated similarity; below it, by how near it is against the others."""
    weight = sum(ranked.shares.get(name, 0.0) for name in (*_OWN[:2], "similarity"))
    best = 1.0 if "similarity" in ranked.shares else 0.25
    if ranked.signals.get("similarity", 0.0) >= RELATED:
        yield weight, f"is close in meaning to {_QUESTION}"
    elif weight >= _NEAREST * best and "similarity" in ranked.signals:
        yield _MERELY_NEAREST * weight, f"is among the nearest in meaning to {_QUESTION}"


def shared_words(question: str, content: str) -> list[str]:
    """At most three words of a question that a text has in some form, the longest ones, in the question's order.

    No stop words; of Chinese, Japanese and Korean the longest pieces that both have.
    """
    held = set(terms(content[:_MOST_READ]))
    found: dict[str, str] = {}
    for word in split_words(question[:_MOST_READ]):
        for piece in _pieces(word, held):
            found.setdefault(piece.casefold(), piece)
    longest = sorted(found.values(), key=len, reverse=True)[:_MOST_WORDS]
    return [piece for piece in found.values() if piece in longest]


def _pieces(word: str, held: set[str]) -> Iterator[str]:
    """The word where a text has its term; of a run without blanks what of its pairs follow each other there."""
    own = terms(word)
    if len(own) == 1 and own[0] in held and not is_stop_word(word):
        yield word
    if len(own) > 1:
        for is_held, pairs in groupby(own, held.__contains__):
            if is_held and len(run := _without_stops(_joined(pairs))) > 1:
                yield run


def _joined(pairs: Iterable[str]) -> str:
    """Pairs of characters of which each begins with the end of the one before."""
    return reduce(lambda run, pair: run + pair[1:] if run[-1:] == pair[:1] else pair, pairs, "")


def _without_stops(run: str) -> str:
    """Without the words at its ends that every text has."""
    while size := next((n for n in (2, 1) if is_stop_word(run[:n])), 0):
        run = run[size:]
    while size := next((n for n in (2, 1) if is_stop_word(run[-n:])), 0):
        run = run[:-size]
    return run
