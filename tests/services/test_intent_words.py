"""The words of a query, on SQLite and on the real engines: what is looked for in records (R-07, R-12 to R-18)."""

from collections.abc import Iterator

import pytest

from recollect.intent.retrieve import IntentQuestion
from recollect.retrieval.filters import SearchFilters
from services.conftest import BOTH
from services.intent_asking import NOON, analysed, asked, draft, found, keyword_shares, one_for_all, told
from services.serving import Service

DIARY = (
    "blood pressure 120/80", "давление 120", "expenses for food", "ixcham xarajatlarim", "study of chords",
    "mathématiques: intégrales", "ездил в Казань", "go to the lake", "a run", "two runs", "outrunning the rain", "ran",
    "snake and slash", "café at the harbour", "Straße in Köln", "मेरा रक्तचाप", "5.5 mmol/L of glucose",
    "AI is a word", "said nothing",
)  # fmt: skip


@pytest.fixture(scope="module", params=BOTH)
def diary(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A day of short notes in several languages, all of yesterday's morning."""
    with one_for_all(request, tmp_path_factory) as service:
        told(service, *(draft(text, 1 + place / 100) for place, text in enumerate(DIARY)))
        yield service


@pytest.mark.spec("R-17", "R-07", "R-14", "R-15", "R-16", "R-33", "P-6")
@pytest.mark.parametrize(
    ("query", "keywords", "results"),
    [
        ("What is my blood pressure?", "what is my blood pressure", {"blood pressure 120/80": 2 / 5}),
        ("Какое у меня давление?", "какое у меня давление", {"давление 120": 1 / 4}),
        ("Show my expenses this month", "show my expenses this month", {"expenses for food": 1 / 5}),
        ("Mening xarajatlarim?", "mening xarajatlarim", None),
        ("What did I study yesterday?", "what did study yesterday", {"study of chords": 1 / 4}),
        ("Mes notes de mathématiques?", "mes notes de mathématiques", {"mathématiques: intégrales": 1 / 4}),
        ("Where did I go last week?", "where did go last week", {"go to the lake": 1 / 5}),
        ("Куда я ездил?", "куда я ездил", {"ездил в Казань": 1 / 3}),
    ],
)
def test_the_examples_of_the_document(
    diary: Service, query: str, keywords: str, results: dict[str, float] | None
) -> None:
    """Each word but a single ASCII character is a keyword, stop words too: the share is one of all of them."""
    answer = asked(diary, query)
    assert answer["analysis"]["keywords"] == keywords.split() == analysed(diary, query)["keywords"]
    if results is None:
        assert answer["diagnostics"]["fallback"] == "date_based"
    else:
        assert keyword_shares(answer) == pytest.approx(results)


@pytest.mark.spec("R-07", "R-15", "R-37", "P-6")
@pytest.mark.parametrize(
    ("query", "results"),
    [
        ("Which run was long?", {"a run", "two runs", "outrunning the rain"}),
        ("Which runs were long?", {"two runs"}),
        ("Which running was long?", {"outrunning the rain"}),
        ("Which AI was long?", {"AI is a word"}),
    ],
)
def test_nothing_is_stemmed_and_a_word_is_found_as_it_is_written(diary: Service, query: str, results: set[str]) -> None:
    assert set(found(diary, query)) == results


@pytest.mark.spec("R-12", "R-13", "R-77", "P-6")
@pytest.mark.parametrize(
    ("query", "keywords", "results"),
    [
        ("my own SNAKE_case-and/slash?", ["my", "own", "snake", "case", "and", "slash"], {"snake and slash": 3 / 6}),
        ("was 5.5 mmol/L measured", ["was", "mmol", "measured"], {"5.5 mmol/L of glucose": 1 / 3}),
        ("any CAFE\u0301 near here", ["any", "cafe\u0301", "near", "here"], {}),
        ("any CAFÉ near here", ["any", "café", "near", "here"], {"café at the harbour": 1 / 4}),
        ("any STRASSE near here", ["any", "strasse", "near", "here"], {"Straße in Köln": 1 / 4}),
        ("İstanbul or any STRASSE", ["i̇stanbul", "or", "any", "strasse"], {"Straße in Köln": 1 / 4}),
        ("मेरा रक्तचाप क्या है?", ["मेरा", "रक्तचाप", "क्या", "है"], {"मेरा रक्तचाप": 2 / 4}),
        (
            "我的血压，давление，是多少 была ли",
            ["我的血压", "давление", "是多少", "была", "ли"],
            {"давление 120": 1 / 5},
        ),
    ],
)
def test_words_are_split_at_all_that_is_no_letter_digit_or_mark_and_put_in_lower_case(
    diary: Service, query: str, keywords: list[str], results: dict[str, float]
) -> None:
    answer = asked(diary, query)
    assert answer["analysis"]["keywords"] == keywords
    assert keyword_shares(answer) == pytest.approx(results)


@pytest.mark.spec("R-18", "R-14")
def test_words_of_several_languages_in_one_query_are_all_looked_for(diary: Service) -> None:
    """Stop words of the one are words as any other beside words of the other; no language is told apart."""
    answer = asked(diary, "und das blood, nicht меня давление, el de मेरा रक्तचाप?")
    own = ["und", "das", "blood", "nicht", "меня", "давление", "el", "de", "मेरा", "रक्तचाप"]
    assert answer["analysis"]["keywords"] == own
    shares = {"blood pressure 120/80": 0.1, "давление 120": 0.1, "मेरा रक्तचाप": 0.2}
    assert keyword_shares(answer) == pytest.approx(shares)


@pytest.mark.spec("R-25", "R-77", "R-64", "R-P17", "R-P19")
@pytest.mark.parametrize(
    ("text", "keywords"),
    [(None, ()), ("", ()), ("   \n", ()), ("!!! …", ()), ("🎉", ()), ("a", ()), ("hi", ("hi",)), ("é", ("é",))],
)
def test_a_very_short_query_is_answered_by_date(diary: Service, text: str | None, keywords: tuple[str, ...]) -> None:
    question = IntentQuestion(text=text, filters=SearchFilters(now=NOON))
    answer = diary.app.intent.retrieve(diary.scope(), question, diary.app.rules.resolved(diary.tenant))
    assert answer.analysis is not None
    assert answer.analysis.keywords == keywords
    assert answer.fallback == ("short_query" if keywords else "no_keywords")
    assert [one.event.content for one in answer.results] == list(DIARY[:15])
    assert analysed(diary, text or "")["keywords"] == list(keywords)


@pytest.mark.spec("R-25", "R-P17")
def test_the_words_of_the_raw_query_count_and_not_its_keywords(diary: Service) -> None:
    two_words = asked(diary, "blood-pressure_reading 120/80")
    assert len(two_words["analysis"]["keywords"]) == 5
    assert two_words["diagnostics"]["fallback_reason"] == "short_query"
    three_words = asked(diary, "a I pressure")
    assert three_words["analysis"]["keywords"] == ["pressure"]
    assert keyword_shares(three_words) == {"blood pressure 120/80": 1}


@pytest.mark.spec("R-25", "R-106", "R-14", "R-77", "P-6")
def test_a_query_of_more_than_a_hundred_words_is_cut_to_ten(diary: Service) -> None:
    """The first distinct ones that say something; up to a hundred words all are kept, repeats and stop words too."""
    words = ["the", "chords", "chords", *(f"word{n}" for n in range(49)), *(["and"] * 48)]
    whole = asked(diary, " ".join(words))
    assert whole["analysis"]["keywords"] == words
    assert keyword_shares(whole)["study of chords"] == pytest.approx(2 / 100)
    cut = asked(diary, " ".join([*words, "it"]))
    assert cut["analysis"]["keywords"] == ["chords", *(f"word{n}" for n in range(9))]
    assert keyword_shares(cut) == {"study of chords": pytest.approx(1 / 10)}
    assert (cut["analysis"]["intent"], "fallback" in cut["diagnostics"]) == ("question", False)


@pytest.mark.spec("R-25", "R-77", "R-P19")
@pytest.mark.parametrize("unit", ["chords ", "血", "\ud800 chords "])
def test_a_megabyte_of_text_is_answered(diary: Service, unit: str) -> None:
    text = unit * (1_000_000 // len(unit.encode("utf-8", "surrogatepass")))
    question = IntentQuestion(text=text, filters=SearchFilters(now=NOON))
    answer = diary.app.intent.retrieve(diary.scope(), question, diary.app.rules.resolved(diary.tenant))
    assert answer.fallback != "error"
    assert answer.analysis is not None
    assert len(answer.analysis.keywords) <= 10
    if "chords" in unit:
        assert [one.event.content for one in answer.results] == ["study of chords"]


@pytest.mark.spec("R-106")
def test_a_tenants_rules_say_how_many_words_of_a_long_query_are_kept(service: Service) -> None:
    told(service, draft("study of chords"), draft("harbour café"))
    query = " ".join(["chords harbour", *(f"word{n}" for n in range(120))])
    assert service.send("GET", "/v1/rules").json["rules"]["intent"]["max_keywords"] == 10
    assert keyword_shares(asked(service, query)) == pytest.approx({"study of chords": 0.1, "harbour café": 0.1})
    service.rules(intent={"max_keywords": 1})
    answer = asked(service, query)
    assert (answer["analysis"]["keywords"], keyword_shares(answer)) == (["chords"], {"study of chords": 1})
