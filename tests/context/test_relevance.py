"""Which memories the messages show: what the question needs, best first, as much as fits."""

from dataclasses import replace

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.disputes import Disputes
from recollect.context.relevance import (
    EVERY_HIT,
    RelevanceCut,
    Setting,
    beside_what_is_shown,
    lines_wanted,
    not_shown_yet,
    those_that_fit,
    wishes_besides,
    without_echoes,
    without_repeated_questions,
)
from recollect.context.rendering import memory_note
from recollect.context.selection import ContextItem
from recollect.contradictions.doubts import OtherSide
from recollect.memories.representation import EndedWords
from recollect.retrieval.nomination import ASKING
from recollect.retrieval.ranking import Ranked
from recollect.text.sentences import count_tokens
from samples.candidates import candidate
from samples.context_items import NOW, item

ASKED = Setting("Where do I live?")


def hit(name: str, content: str = "I moved to Lyon", score: float = 0.5, sources: tuple[str, ...] = ()) -> ContextItem:
    return item(name, len(name), content=content, source_event_ids=sources or (name,), score=score)


def chosen(*hits: ContextItem, setting: Setting = ASKED, tokens: int = 800) -> list[str]:
    needed = RelevanceCut().of(not_shown_yet(hits, setting))
    return [one.item.id for one in those_that_fit(needed, tokens, NOW)]


@pytest.mark.parametrize(
    ("hits", "tokens", "shown"),
    [
        ([hit("a", score=0.9), hit("bb", score=0.8), hit("ccc", score=0.7)], 800, ["ccc", "bb", "a"]),
        ([hit("a", score=0.9), hit("bb", score=0.8), hit("ccc", score=0.7)], 20, ["bb", "a"]),
        ([hit("a", "long " * 100), hit("bb")], 40, ["bb"]),
        ([hit("a")], 0, []),
        ([hit("a", "where do I live"), hit("bb", "Where do I live!"), hit("ccc")], 800, ["ccc"]),
        ([hit("a", "where do I live now"), hit("bb", "where do I")], 800, ["bb", "a"]),
    ],
    ids=["all, oldest first", "the best that fit", "one too long", "no room", "the input again", "more, less than it"],
)
def test_the_best_that_fit_are_shown_but_not_the_input_again(
    hits: list[ContextItem], tokens: int, shown: list[str]
) -> None:
    assert chosen(*hits, tokens=tokens) == shown


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("others", "tokens", "told"),
    [
        ([], 800, "(until Wed May 15: “Seaview”; then: “Rang and cancelled.”)"),
        ([hit("n", "Rang and cancelled.")], 800, "(until Wed May 15: “Seaview”)"),
        ([], 20, ""),
    ],
    ids=["what ended it is not shown", "it is shown", "no room beside what holds"],
)
def test_what_has_ended_stands_behind_what_is_left(others: list[ContextItem], tokens: int, told: str) -> None:
    ended = EndedWords(", Seaview,", NOW, "n", "Rang and cancelled.")
    booked = replace(hit("booked", "We booked Whitby"), ended=(ended,))
    lines = beside_what_is_shown(those_that_fit([booked, *others], tokens, NOW), ASKED, Disputes({}, {}))
    (line,) = [memory_note(one.item, NOW) for one in lines if one.item.id == "booked"]
    assert line.partition("We booked Whitby")[2].strip() == told


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("said", "ended", "line"),
    [
        ("I run on Mondays in Leeds", ["Mondays"], "I run on [until Wed May 15: Mondays] in Leeds (then: “b”)"),
        (
            "I run on Mondays in Leeds",
            [" Mondays ", " Leeds"],
            "I run on [until Wed May 15: Mondays] in [until Wed May 15: Leeds] (then: “b”)",
        ),
        (
            "I run on Mondays in Leeds",
            ["Mondays in", "in Leeds"],
            "I run on [until Wed May 15: Mondays in] [until Wed May 15: Leeds] (then: “b”)",
        ),
        ("I run\non Mondays", ["\non Mondays"], "I run [until Wed May 15: on Mondays] (then: “b”)"),
    ],
    ids=["one", "two of one record", "one over the other", "a line of its own"],
)
def test_ended_words_stand_at_their_places(said: str, ended: list[str], line: str) -> None:
    words = tuple(EndedWords(one, NOW, "n", "b", start=said.index(one)) for one in ended)
    (shown,) = those_that_fit([replace(hit("a", "I run"), said=said, ended=words)], 800, NOW)
    assert memory_note(shown.item, NOW).endswith(line)


@pytest.mark.spec("P-24")
def test_without_room_for_its_mark_no_ended_word_is_shown() -> None:
    ended = (EndedWords(" on Mondays", NOW, "n", start=5),)
    (shown,) = those_that_fit([replace(hit("a", "I run"), said="I run on Mondays", ended=ended)], 11, NOW)
    assert "Mondays" not in memory_note(shown.item, NOW)


MUM = "My mum lives in Whitby on her own, her name is Denise"


def words_of(said: str, *parts: tuple[str, str, int]) -> tuple[EndedWords, ...]:
    """Words with what ends them, or may, and the day in May."""
    return tuple(EndedWords(one, NOW.replace(day=day), by, f"{by} said", said.index(one)) for one, by, day in parts)


@pytest.mark.spec("P-23", "P-24")
@pytest.mark.parametrize(
    ("doubted", "ended", "beside", "line"),
    [
        (
            [("Whitby on her own", "hull", 3)],
            [],
            ["hull"],
            "My mum lives in [in doubt since Fri May 3: Whitby on her own], her name is Denise",
        ),
        (
            [("Whitby on her own", "hull", 3)],
            [],
            [],
            "My mum lives in [in doubt since Fri May 3: Whitby on her own], her name is Denise "
            "(perhaps now: “hull said”)",
        ),
        (
            [("Whitby on her own", "hull", 3), ("Denise", "deb", 6)],
            [],
            ["hull"],
            "My mum lives in [in doubt since Fri May 3: Whitby on her own], her name is "
            "[in doubt since Mon May 6: Denise] (perhaps now: “deb said”)",
        ),
        (
            [("Whitby on her own", "hull", 3), ("on her own, her name", "deb", 6)],
            [],
            ["hull", "deb"],
            "My mum lives in [in doubt since Fri May 3: Whitby on her own][in doubt since Mon May 6: , her name] "
            "is Denise",
        ),
        (
            [(", her name is Denise", "deb", 6)],
            [("Whitby on her own", "hull", 3)],
            [],
            "My mum lives in [until Fri May 3: Whitby on her own][in doubt since Mon May 6: , her name is Denise] "
            "(then: “hull said”) (perhaps now: “deb said”)",
        ),
    ],
    ids=["the newer is shown", "it is not", "two, of which one is shown", "one over the other", "beside what ended"],
)
def test_words_in_doubt_stand_at_their_places(
    doubted: list[tuple[str, str, int]], ended: list[tuple[str, str, int]], beside: list[str], line: str
) -> None:
    in_doubt, over = words_of(MUM, *doubted), words_of(MUM, *ended)
    older = replace(hit("mum", "My mum lives"), said=MUM, in_doubt=in_doubt, ended=over)
    sides = [OtherSide(one.by, one.since, f"{one.by} said", newer=True) for one in in_doubt]
    told = Disputes({"mum": sides}, {}, said={"mum": MUM}, in_doubt={"mum": in_doubt})
    lines = beside_what_is_shown(those_that_fit([older, *map(hit, beside)], 800, NOW), ASKED, told)
    (shown,) = [memory_note(one.item, NOW) for one in lines if one.item.id == "mum"]
    assert shown.partition("] ")[2] == line


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(
    ("sides", "beside", "line"),
    [
        (["newer"], [], "(in doubt: Fri May 3, “newer said”) I run"),
        (["newer"], ["newer"], "(until Fri May 3? See there.) I run"),
        (["older"], [], "I run (before, and perhaps still, Fri May 3: “older said”)"),
        (["older"], ["older"], "I run"),
        (["newer", "older"], ["older"], "(in doubt: Fri May 3, “newer said”) I run"),
        (["newer", "older"], [], "(in doubt: Fri May 3, “newer said”) I run"),
    ],
    ids=["not shown", "shown", "older, not shown", "older, shown", "newer is not shown", "neither is shown"],
)
def test_what_is_in_doubt_as_a_whole_says_so_before_it_and_what_puts_another_in_doubt_does_not(
    sides: list[str], beside: list[str], line: str
) -> None:
    against = [OtherSide(one, NOW.replace(day=3), f"{one} said", newer=one == "newer") for one in sides]
    told = Disputes({"run": against}, {})
    run = replace(hit("run", "I run"), against=told.against("run")[0])
    lines = beside_what_is_shown(those_that_fit([run, *map(hit, beside)], 800, NOW), ASKED, told)
    (shown,) = [memory_note(one.item, NOW) for one in lines if one.item.id == "run"]
    assert shown.partition("] ")[2] == line


@pytest.mark.spec("P-24")
def test_a_doubt_that_has_no_place_stands_before_those_that_have_one() -> None:
    in_doubt = words_of(MUM, ("Whitby on her own", "hull", 3))
    sides = [OtherSide(i, NOW.replace(day=day), f"{i} said", newer=True) for i, day in (("late", 8), ("hull", 3))]
    told = Disputes({"mum": sides}, {}, said={"mum": MUM}, in_doubt={"mum": in_doubt})
    older = replace(hit("mum", MUM), said=MUM, in_doubt=in_doubt, against=told.against("mum")[0])
    (line,) = beside_what_is_shown(those_that_fit([older], 800, NOW), ASKED, told)
    assert memory_note(line.item, NOW).partition("] ")[2] == (
        "(in doubt: Wed May 8, “late said”) My mum lives in [in doubt since Fri May 3: Whitby on her own], "
        "her name is Denise (perhaps now: “hull said”)"
    )


@pytest.mark.spec("P-23", "P-24")
def test_with_little_room_a_doubt_stands_before_the_line_and_the_next_line_fits() -> None:
    in_doubt = words_of(MUM, ("Whitby on her own", "hull", 3))
    sides = [OtherSide("hull", NOW.replace(day=3), "hull said", newer=True)]
    told = Disputes({"mum": sides}, {}, said={"mum": MUM}, in_doubt={"mum": in_doubt})
    older, other = replace(hit("mum", MUM), said=MUM, in_doubt=in_doubt), hit("other", "I keep bees")
    lines = beside_what_is_shown(those_that_fit([older, other], 36, NOW), ASKED, told)
    notes = {one.item.id: memory_note(one.item, NOW).partition("] ")[2] for one in lines}
    assert notes == {"mum": f"(in doubt: Fri May 3, “hull said”) {MUM}", "other": "I keep bees"}


def test_own_event_raw_window_twice_found_and_what_does_not_match_are_left_out() -> None:
    setting = Setting("x", raw_window=frozenset(["raw"]), own=frozenset(["own"]))
    of_raw, again = hit("memory", sources=("raw",)), hit("again", sources=("a",))
    hits = (hit("own"), hit("raw"), of_raw, hit("a"), again, hit("none", score=0.0))
    assert chosen(*hits, setting=setting) == ["a"]


def ranked(name: str, role: str, *vector: float) -> Ranked:
    known = numpy.array(vector, dtype=numpy.float32) if vector else None
    return Ranked(candidate(name, role=role, vector=known), 0.5, {}, {})


@pytest.mark.spec("P-23")
@pytest.mark.parametrize(
    ("hits", "kept"),
    [
        ([("a", ASKING, 3, 1), ("b", ASKING, 6, 1), ("c", ASKING, 1, 3)], ["a", "c"]),
        ([("a", ASKING, 1, 0), ("b", ASKING, 0.66, 0.75), ("c", ASKING, 0.64, 0.77)], ["a", "c"]),
        ([("a", "user", 1, 0), ("b", "user", 1, 0), ("c", ASKING, 1, 0), ("d", "bot", 1, 0)], ["a", "b", "c", "d"]),
        ([("a", ASKING), ("b", ASKING), ("c", ASKING, 0, 0), ("d", ASKING, 0, 0)], ["a", "b", "c", "d"]),
        ([], []),
    ],
    ids=["another length, another direction", "just above and just below", "statements", "no vector", "none"],
)
def test_of_nearly_equal_questions_the_best_is_kept(hits: list[tuple[str, str, float]], kept: list[str]) -> None:
    assert [one.id for one in without_repeated_questions(ranked(*one) for one in hits)] == kept


def test_wishes_have_their_place_before_the_hits_and_no_more_than_a_quarter() -> None:
    wishes = [hit("long", "On and on " * 30), hit("a", "Two lines at most"), hit("bb", "No lists, please")]
    best = hit("ccc", "I moved to Lyon", 0.9)
    of_one = count_tokens(memory_note(wishes[1], NOW) + "\n")
    few, many = (those_that_fit([best], tokens, NOW, wishes) for tokens in (4 * of_one + 1, 800))
    assert [one.item.id for one in few] == ["ccc", "a"]
    assert [one.item.id for one in many] == ["long", "ccc", "bb", "a"]
    assert those_that_fit([best], 0, NOW, wishes) == ()


@pytest.mark.spec("P-23")
@pytest.mark.parametrize(
    ("hits", "kept"),
    [
        ([("echo", "bot", 1, 0), ("other", "user", 0, 1), ("said", "user", 3, 1)], ["said", "other"]),
        ([("said", "user", 1, 0), ("echo", "bot", 1, 0), ("again", "bot", 3, 1)], ["said"]),
        ([("about", "bot", 0.64, 0.77), ("said", "user", 1, 0)], ["about", "said"]),
        ([("echo", "bot", 1, 0), ("asked", ASKING, 1, 0)], ["echo", "asked"]),
        ([("echo", "bot"), ("said", "user", 1, 0), ("zero", "user", 0, 0)], ["echo", "said", "zero"]),
        ([], []),
    ],
    ids=["in its place", "further down", "only about it", "a question states nothing", "no vector", "none"],
)
def test_an_assistants_restatement_is_one_with_what_the_user_said(
    hits: list[tuple[str, str, float]], kept: list[str]
) -> None:
    assert [one.id for one in without_echoes([ranked(*one) for one in hits])] == kept


_WISHED: dict[str, tuple[str, ...]] = {"a": (), "bb": (), "ccc": (), "dddd": ("ccc",), "eeeee": ()}


def test_a_wish_is_shown_once_and_not_where_it_stands_already() -> None:
    wishes = [hit(name, f"Two lines, {name}", sources=sources) for name, sources in _WISHED.items()]
    setting = replace(ASKED, raw_window=frozenset({"bb"}), own=frozenset({"eeeee"}))
    assert [one.id for one in wishes_besides(wishes, [hit("a")], setting)] == ["ccc"]


@given(st.lists(st.text(min_size=1, max_size=300), max_size=30), st.integers(0, 900), st.integers(0, 4))
def test_never_more_tokens_than_asked_for(texts: list[str], tokens: int, wishes: int) -> None:
    hits = [hit(f"e{place}", text) for place, text in enumerate(texts)]
    lines = [memory_note(one.item, NOW) for one in those_that_fit(hits[wishes:], tokens, NOW, hits[:wishes])]
    assert count_tokens("\n".join(lines)) <= tokens


@pytest.mark.spec("P-23")
@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        ([1.0, 0.9, 0.8, 0.5, 0.1], 3),
        ([1.0, 0.45, 0.42], 1),
        ([1.0, 0.55, 0.52, 0.51], 2),
        ([1.0, 0.99, 0.98, 0.97, 0.96], 5),
        ([0.2, 0.16, 0.02], 2),
        ([0.029, 0.02], 0),
        ([0.0], 0),
        ([], 0),
    ],
    ids=[
        "it ends after three",
        "one is far ahead",
        "one comes next",
        "all are as good",
        "of weak ones the best",
        "all are too weak",
        "no match",
        "nothing",
    ],
)
def test_relevance_ends_where_scores_fall_off_and_not_at_a_count(scores: list[float], shown: int) -> None:
    hits = [hit("a" * place, f"fact {place}", score) for place, score in enumerate(scores, start=1)]
    assert len(chosen(*hits)) == shown


def test_what_is_shown_elsewhere_does_not_measure_what_else_is_relevant() -> None:
    hits = [hit("own", score=9.0), hit("a", "Where do I live?", score=8.0), hit("bb", score=0.5)]
    assert chosen(*hits, setting=Setting("Where do I live?", own=frozenset(["own"]))) == ["bb"]


@given(st.lists(st.floats(0, 2), max_size=30))
def test_the_cut_keeps_the_best_and_whatever_is_as_good(scores: list[float]) -> None:
    hits = [hit(f"e{place}", f"fact {place}", score) for place, score in enumerate(scores)]
    kept = {one.id for one in RelevanceCut().of(hits)}
    worst = min((score for one, score in zip(hits, scores, strict=True) if one.id in kept), default=3.0)
    assert kept == {one.id for one, score in zip(hits, scores, strict=True) if score >= worst}
    assert EVERY_HIT.of(hits) == hits


def test_a_search_is_asked_for_enough_and_never_for_too_many() -> None:
    assert [lines_wanted(tokens) for tokens in (0, 1, 800, 32_000)] == [0, 1, 24, 200]
