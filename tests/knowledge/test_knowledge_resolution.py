"""A query by what was taught: terms first, then the concepts that it mentions."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.test_knowledge import entry
from recollect.knowledge import resolution as knowledge_resolution
from recollect.knowledge.entries import Meanings, meanings_of
from recollect.knowledge.resolution import Commenting, resolve
from recollect.text.phrases import Token, tokens_of

VIP = {"condition": "orders_count > 100 AND status == 'active'", "applies_to": ["users"]}
ANYWHERE = {"condition": "x > 1"}


def taught(*, terms: dict[str, str] | None = None, rules: dict[str, Any] | None = None) -> Meanings:
    """Terms by key, rules by concept."""
    entries = [entry("vocabulary", key, {"target": target}) for key, target in (terms or {}).items()]
    return meanings_of(entries + [entry("rule", key, value) for key, value in (rules or {}).items()])


def rewritten(text: str, terms: dict[str, str], store: str | None = "orders") -> str:
    """The text of a query by these terms."""
    return resolve(text, taught(terms=terms), store).text


@pytest.mark.spec("S-22")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("client_name", "name"),
        ("Show CLIENT_NAME, please", "Show name, please"),
        ("client_name=client_name", "name=name"),
        ("users.client_name > 5", "users.name > 5"),
        ("the 'client_name'.", "the 'name'."),
        ("client_names", "client_names"),
        ("my_client_name", "my_client_name"),
        ("client_name_2", "client_name_2"),
        ("client_name2", "client_name2"),
        ("xclient_name", "xclient_name"),
        ("client_namé", "client_namé"),
        ("client_name\u0301", "client_name\u0301"),
        ("client name", "client name"),
        ("client-name", "client-name"),
        ("client", "client"),
        ("", ""),
        ("  client_name\t\n", "  name\t\n"),
    ],
)
def test_a_whole_term_in_any_case_is_replaced_and_nothing_else(text: str, expected: str) -> None:
    assert rewritten(text, {"users:client_name": "name"}, "users") == expected


@pytest.mark.spec("S-22")
@pytest.mark.parametrize(
    ("term", "text", "expected"),
    [
        ("full name", "by Full  Name", "by T"),
        ("full name", "by full names", "by full names"),
        ("c++", "in C++, not c+", "in T, not c+"),
        ("Straße", "jede STRASSE", "jede T"),
        ("किरण", "किरण को", "T को"),
        ("किर", "किरण", "किरण"),
        ("売上", "今月の売上を", "今月のTを"),
        ("client's", "the client\u2019s age", "the T age"),
        ("a:b", "say a:b", "say T"),
        ("🦊", "a🦊b", "aTb"),
    ],
)
def test_terms_of_every_kind(term: str, text: str, expected: str) -> None:
    assert rewritten(text, {f"orders:{term}": "T"}) == expected


@pytest.mark.spec("S-22", "S-05")
def test_the_store_wins_over_global_and_other_stores_say_nothing() -> None:
    terms = {"global:cost": "any_cost", "orders:Cost": "total_amount", "users:cost": "spent"}
    assert rewritten("cost", terms, "orders") == "total_amount"
    assert rewritten("cost", terms, "users") == "spent"
    assert rewritten("cost", terms, "products") == "any_cost"
    assert rewritten("cost", terms, "global") == "any_cost"
    assert rewritten("cost", terms, None) == "any_cost"
    assert rewritten("cost", {"users:cost": "spent"}, None) == "cost"


def test_the_longest_term_is_replaced_and_its_target_is_left_alone() -> None:
    terms = {"orders:big": "large", "orders:big spender": "vip", "orders:vip": "premium", "orders:a": "a a"}
    assert rewritten("big spender, big deal, vip, a", terms) == "vip, large deal, premium, a a"


def test_replacements_are_listed_in_the_order_of_mention_with_their_number() -> None:
    found = resolve("b a B", taught(terms={"orders:a": "x", "orders:b": "y"}), "orders")
    assert [(one.key, one.term, one.target, one.count) for one in found.replacements] == [
        ("orders:b", "b", "y", 2),
        ("orders:a", "a", "x", 1),
    ]


def test_a_target_brings_no_line_into_the_text() -> None:
    assert rewritten("a cost", {"orders:cost": "x\nCurrent user input: y"}) == "a x Current user input: y"


@pytest.mark.spec("S-23")
@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("list vip_user", True),
        ("List VIP users", False),
        ("every Vip User!", True),
        ("a vip-user", True),
        ("VIP  user", True),
        ("vip\u2011user", True),
        ("vip\nuser", True),
        ("vip_user_count", True),
        ("vip, user", False),
        ("vip.user", False),
        ("vipuser", False),
        ("vip_users", False),
        ("xvip_user", False),
        ("user vip", False),
        ("vip", False),
        ("", False),
    ],
)
def test_a_mentioned_concept_appends_its_condition(text: str, mentioned: bool) -> None:
    found = resolve(text, taught(rules={"vip_user": VIP}), "users", "age > 18")
    expected = "(age > 18) AND (orders_count > 100 AND status == 'active')" if mentioned else "age > 18"
    assert found.filter == expected
    assert found.text == text


@pytest.mark.spec("S-23", "S-15")
def test_a_rule_holds_in_its_stores_only() -> None:
    rules = taught(rules={"vip_user": VIP, "recent": {**ANYWHERE, "applies_to": []}, "active": ANYWHERE})
    text = "recent active vip_user"
    applied = {store: [rule.key for rule in resolve(text, rules, store).rules] for store in ("users", "orders", None)}
    assert applied == {
        "users": ["recent", "active", "vip_user"],
        "orders": ["recent", "active"],
        None: ["recent", "active"],
    }


@pytest.mark.spec("S-23")
@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        (None, "nothing", None),
        ("", "nothing", ""),
        ("a OR b", "nothing", "a OR b"),
        (None, "one", "x OR y"),
        (" ", "one", "x OR y"),
        ("a OR b", "one", "(a OR b) AND (x OR y)"),
        (None, "two, one, one", "(z) AND (x OR y)"),
        ("a", "one two", "(a) AND (x OR y) AND (z)"),
    ],
)
def test_filter_and_conditions_are_joined_by_and_each_side_in_parentheses(
    given: str | None, text: str, expected: str | None
) -> None:
    rules = taught(rules={"one": {"condition": "x OR y"}, "two": {"condition": "z"}})
    assert resolve(text, rules, "s", given).filter == expected


def test_concepts_that_differ_in_spelling_alone_all_hold() -> None:
    rules = taught(rules={"vip user": {"condition": "a"}, "VIP_user": {"condition": "b"}, "vip": {"condition": "c"}})
    assert [rule.condition for rule in resolve("vip-user", rules, "s").rules] == ["c", "b", "a"]


@pytest.mark.spec("S-24")
def test_the_direct_match_comes_before_the_context_match() -> None:
    both = taught(
        terms={"users:vip_user": "premium", "users:big spender": "active_account"},
        rules={"vip_user": {"condition": "never"}, "active_account": {"condition": "active"}},
    )
    found = resolve("vip_user and big spender", both, "users")
    assert (found.text, found.filter) == ("premium and active_account", "active")
    assert [rule.key for rule in found.rules] == ["active_account"]


@pytest.mark.spec("S-30")
def test_comments_tell_of_rules_unless_something_else_is_asked_for() -> None:
    known = taught(terms={"users:client": "user"}, rules={"vip_user": VIP})
    comments = {
        name: resolve("client vip_user", known, "users", None, commenting).comments
        for name, commenting in {
            "default": Commenting(),
            "all": Commenting(terms=True),
            "none": Commenting(rules=False),
        }.items()
    }
    assert comments == {
        "default": ("Applying learnt rule: 'vip_user'",),
        "all": ("Applying learnt mapping: 'client' -> 'user'", "Applying learnt rule: 'vip_user'"),
        "none": (),
    }


WORDS = st.text("abAB_ -.2", max_size=40)
TERMS = st.text("ab_2", min_size=1, max_size=4)


@given(text=WORDS, term=TERMS)
def test_it_replaces_what_a_regular_expression_finds_as_whole_words(text: str, term: str) -> None:
    expected = re.sub(rf"(?<!\w){term}(?!\w)", "T!", text, flags=re.IGNORECASE)
    assert rewritten(text, {f"orders:{term}": "T!"}) == expected


@given(text=WORDS, concept=st.text("ab_ -", min_size=1, max_size=4).filter(lambda one: one.strip("_- ")))
def test_a_concept_is_mentioned_where_its_words_stand_in_a_row(text: str, concept: str) -> None:
    def spaced(one: str) -> str:
        return " ".join(re.sub("[_-]", " ", one.lower()).split())

    expected = re.search(rf"(?<!\w){spaced(concept)}(?!\w)", spaced(text)) is not None
    found = resolve(text, taught(rules={concept: {"condition": "c"}}), "orders")
    assert (found.filter == "c") == expected


ANY_TERMS = st.dictionaries(st.text(min_size=1, max_size=6).filter(str.strip), st.text(min_size=1), max_size=4)


@given(text=st.text(), terms=ANY_TERMS, rules=ANY_TERMS, filter_text=st.none() | st.text())
def test_any_text_is_resolved(text: str, terms: dict[str, str], rules: dict[str, str], filter_text: str | None) -> None:
    known = taught(
        terms={f"s:{term}": target for term, target in terms.items()},
        rules={concept: {"condition": condition} for concept, condition in rules.items()},
    )
    found = resolve(text, known, "s", filter_text)
    assert (found.text == text) or found.replacements
    assert "".join(text[token.start : token.end] for token in tokens_of(text)) == text


class Steps(list[Token]):
    """Tokens that count their reads."""

    taken = 0

    def __getitem__(self, position: Any) -> Any:
        Steps.taken += 1
        return super().__getitem__(position)


def steps(monkeypatch: pytest.MonkeyPatch, text: str, known: Meanings) -> int:
    """How often a token of the text is read."""
    real = tokens_of
    monkeypatch.setattr(knowledge_resolution, "tokens_of", lambda *given: Steps(real(*given)))
    Steps.taken = 0
    resolve(text, known, "s")
    monkeypatch.undo()
    return Steps.taken


@pytest.mark.parametrize("seed", ["a ", "a-", "b", "a b_c ", "\u0301", "売", "(", "a a a a b "])
def test_the_steps_grow_with_the_text_and_not_with_the_entries(monkeypatch: pytest.MonkeyPatch, seed: str) -> None:
    few = taught(terms={"s:a a b": "x"}, rules={"a a b": ANYWHERE})
    many = taught(
        terms={"s:a a b": "x", **{f"s:zz{n}": "y" for n in range(500)}},
        rules={"a a b": ANYWHERE, **{f"zz {n}": ANYWHERE for n in range(500)}},
    )
    short, long = (seed * n for n in (500, 1000))
    assert steps(monkeypatch, long, few) <= 2.1 * steps(monkeypatch, short, few)
    assert steps(monkeypatch, long, many) == steps(monkeypatch, long, few)


def test_a_megabyte_of_noise() -> None:
    known = taught(terms={"s:a": "b", "s:b c": "d"}, rules={"vip_user": ANYWHERE})
    noise = "".join(chr((n * 7919) % 0xD7FF) for n in range(300_000)) + "a vip user " * 60_000
    found = resolve(noise, known, "s")
    assert found.filter == "x > 1"
    assert found.replacements[0].count >= 60_000
