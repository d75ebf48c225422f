"""The words of a query, on SQLite and on the real engines: what is looked for in records (R-07, R-12 to R-18)."""

import pytest

from services.intent_asking import analysed, asked, draft, keyword_shares, told
from services.serving import Service

DIARY = (
    "blood pressure 120/80", "давление 120", "expenses for food", "ixcham xarajatlarim", "study of chords",
    "mathématiques: intégrales", "ездил в Казань", "go to the lake", "a run", "two runs", "outrunning the rain", "ran",
    "snake and slash", "café at the harbour", "Straße in Köln", "मेरा रक्तचाप", "5.5 mmol/L of glucose",
    "AI is a word", "said nothing",
)  # fmt: skip


@pytest.fixture(scope="module")
def diary(one_for_all: Service) -> Service:
    """A day of short notes in several languages, all of yesterday's morning."""
    told(one_for_all, *(draft(text, 1 + place / 100) for place, text in enumerate(DIARY)))
    return one_for_all


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


@pytest.mark.spec("R-106")
def test_a_tenants_rules_say_how_many_words_of_a_long_query_are_kept(service: Service) -> None:
    told(service, draft("study of chords"), draft("harbour café"))
    query = " ".join(["chords harbour", *(f"word{n}" for n in range(120))])
    assert service.send("GET", "/v1/rules").json["rules"]["intent"]["max_keywords"] == 10
    assert keyword_shares(asked(service, query)) == pytest.approx({"study of chords": 0.1, "harbour café": 0.1})
    service.rules(intent={"max_keywords": 1})
    answer = asked(service, query)
    assert (answer["analysis"]["keywords"], keyword_shares(answer)) == (["chords"], {"study of chords": 1})
