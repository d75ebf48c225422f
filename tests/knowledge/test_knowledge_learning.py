"""What a text teaches: corrections of every wording, and the twins that are none."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.errors import InvalidInput
from recollect.knowledge import resolution as knowledge_resolution
from recollect.knowledge.resolution import (
    CONTEXT_LENGTH,
    PATTERNS,
    Learnt,
    call_for,
    confirmation_of,
    learnt_from,
    plain_quotes,
)

DOCUMENT = "No, by 'cost' I mean the 'total_amount' field"
COST = Learnt("cost", "total_amount")

SAID = """
No, by 'cost' I mean the 'total_amount' field
by 'cost' I mean 'total_amount'
By "cost" I meant the total_amount column.
No, by ‘cost’ I mean the ‘total_amount’ field.
No, by “cost” I mean the “total_amount” field.
By «cost», we mean the field total_amount
by `cost` I mean `total_amount`
by cost I mean the total_amount field
by cost I mean total_amount
BY COST, I MEAN THE total_amount FIELD
by the word 'cost' I actually mean total_amount
When I say 'cost' I mean 'total_amount'
when I say cost, I mean the total_amount field
whenever I write "cost", use the "total_amount" column
What I mean by 'cost' is the 'total_amount' field.
I mean the 'total_amount' field by 'cost'
I mean 'total_amount' when I say 'cost'.
'cost' means 'total_amount'
'cost' means the 'total_amount' column
cost means total_amount
Remember, 'cost' means total_amount.
'cost' refers to 'total_amount'.
"cost" refers to the "total_amount" field
no, 'cost' is the 'total_amount' column
No, cost is the total_amount column!
No. 'cost' is stored in 'total_amount'
'cost' is the 'total_amount' column
'cost' is called 'total_amount': 'cost' stands for total_amount here.
Treat 'cost' as 'total_amount'.
'cost' is another word for 'total_amount'
That's not right: by 'cost' I mean the 'total_amount' field.
You didn't get it, by 'cost' I mean 'total_amount'
You said amount, but by 'cost' I mean 'total_amount'
I said that by 'cost' I mean 'total_amount'
Do you hear me? By 'cost' I mean 'total_amount'. Is that clear?
by 'cost' I mean 'total_amount', not the 'net_amount'
By   'cost'  I   mean   the  'total_amount'
""".strip().splitlines()

NOT_SAID = """
Do you think by 'cost' I mean the 'total_amount' field?
By 'cost' I mean the 'total_amount' field?
Does 'cost' mean 'total_amount'?
Is it so that 'cost' means 'total_amount'
What do you mean by 'cost'?
Who told you that 'cost' means 'total_amount'
By 'cost' I don't mean the 'total_amount' field
By 'cost' I don’t mean the 'total_amount' field
By 'cost' I do not mean 'total_amount'
By 'cost' I never mean 'total_amount'
I don't mean 'total_amount' by 'cost'
I never said that by 'cost' I mean 'total_amount'
I'm not saying 'cost' means 'total_amount'
I don’t think that 'cost' means 'total_amount'
'cost' does not mean 'total_amount'
'cost' doesn't refer to 'total_amount'
no, 'cost' is not the 'total_amount' column
If by 'cost' I meant the 'total_amount' field, I would have said so.
If you ask me, and I doubt it, by 'cost' I mean 'total_amount'
Suppose by 'cost' I mean 'total_amount'
Imagine that 'cost' means 'total_amount'.
What if 'cost' means 'total_amount'
Maybe 'cost' means 'total_amount'
I wonder whether 'cost' means 'total_amount'
by 'cost' I would mean 'total_amount'
I might say that 'cost' means 'total_amount'
Bob says 'cost' means 'total_amount'
She said that by 'cost' I mean 'total_amount'
by 'cost' you mean 'total_amount'
By that I mean the total_amount field
By the way I mean total_amount
That means war
This means 'total_amount'
'chat' means 'cat' in French
'cost' means a lot to me
"I'm fine" means "leave me alone"
by 'cost' I mean what the customer paid
by 'cost' I mean it.
by 'cost' I mean 'cost'
by 'cost' I mean 'Cost'
By 'cost' I mean 'a' or 'b'
The page refers to the users table
no means no
No, cost is high
no, 'cost' is too high
When I say jump I mean jump
'cost' is the most important thing
I mean it
by car I mean to go
by '' I mean 'total_amount'
by ' ' I mean 'total_amount'
by 'cost' I mean ' '
""".strip().splitlines()


@pytest.mark.spec("S-25")
@pytest.mark.parametrize("text", SAID)
def test_a_correction_is_heard_in_every_wording(text: str) -> None:
    learnt = learnt_from(text)
    assert learnt is not None
    assert Learnt(learnt.term.lower(), learnt.target) == COST


@pytest.mark.spec("S-25")
@pytest.mark.parametrize("text", NOT_SAID)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert learnt_from(text) is None


@pytest.mark.parametrize(
    ("text", "term", "target"),
    [
        ("when I say big spender I mean the vip_user field", "big spender", "vip_user"),
        ("By 'client's name' I mean 'full_name'", "client's name", "full_name"),
        ("By ‘client’s name’ I mean ‘full_name’", "client’s name", "full_name"),
        ("by 'cost' I mean amount.", "cost", "amount"),
        ("by 'cost' I mean orders.total_amount.", "cost", "orders.total_amount"),
        ("by 'cost' I mean totalAmount now", "cost", "totalAmount"),
        ("'order  value' means the 'net amount' column", "order value", "net amount"),
        ("by 'a' I mean 'b'. By 'c' I mean 'd'.", "a", "b"),
        ("'c' means 'd'. By 'a' I mean 'b'.", "c", "d"),
        ("if by 'a' I mean 'b', so what. By 'c' I mean 'd'.", "c", "d"),
        ("by 'Umsatz' I mean 'größe'", "Umsatz", "größe"),
        ("by '売上' I mean 'total'", "売上", "total"),
    ],
)
def test_terms_and_targets_are_taken_as_they_are_spelt(text: str, term: str, target: str) -> None:
    assert learnt_from(text) == Learnt(term, target)


@pytest.mark.spec("S-29")
def test_the_confirmation_is_the_documents_sentence() -> None:
    expected = "I have learnt that 'cost' refers to 'total_amount' for future queries."
    assert confirmation_of(COST) == expected
    typographic = learnt_from("No, by ‘cost’ I mean the “total_amount” field")
    assert typographic is not None
    assert confirmation_of(typographic) == expected


def test_what_gives_no_valid_key_is_not_learnt_and_a_store_that_no_key_can_name_is_refused() -> None:
    assert call_for(Learnt("x" * 122, "y"), "orders") is None
    assert call_for(Learnt("a\x00", "y"), "orders") is None
    assert call_for(Learnt("a", "y" * 257), "orders") is None
    assert call_for(Learnt("x" * 121, "y"), "orders") is not None
    for store in ("a:b", " ", ""):
        with pytest.raises(InvalidInput) as caught:
            call_for(COST, store)
        assert caught.value.loc == ("store",)


PIECES = [
    "by ", "'", '"', "‘", "’", "cost", " I mean ", "the ", "total_amount", " field", " means ", "no, ", " is the ", "?",
    ". ", "if ", "not ", "when I say ", " refers to ", "\n", "_", "a ", "what I mean by ", "\ud800", "\u0301", " or ",
]  # fmt: skip


@given(text=st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_text_is_read(text: str) -> None:
    learnt = learnt_from(text)
    if learnt is not None:
        assert learnt.term.strip() == learnt.term != ""
        assert "".join(learnt.term.split()) in "".join(text.split())
        call_for(learnt, "orders")


@given(before=st.sampled_from(["Well, ", "Listen: ", "", "Hello there. "]), after=st.sampled_from(["", ".", "!", "\n"]))
def test_what_stands_around_in_earnest_changes_nothing(before: str, after: str) -> None:
    assert learnt_from(f"{before}{DOCUMENT}{after}") == COST


def test_the_quotes_of_a_text_keep_their_places() -> None:
    text = "‘a’ “b” «c» 「d」 `e´"
    assert len(plain_quotes(text)) == len(text)
    assert plain_quotes(text) == '\'a\' "b" "c" "d" \'e\''


NOISE = [
    "by ", "'", '"a ', "by 'cost' I mean 'x' or ", "if by 'a' I mean 'b' ", "a ", "_a ", "no ", "I mean ", "the ",
    "by a a a a ", "when I say 'a b", "'a' is the ", "cost means ", "____", "a_", "by the word ", "treat 'a' as ",
]  # fmt: skip


class Looks:
    """Stands for the way a candidate's surroundings are read; counts calls, and the characters they may read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken = 0
        self._real = knowledge_resolution._in_earnest
        monkeypatch.setattr(knowledge_resolution, "_in_earnest", self)

    def __call__(self, plain: str, match: Any) -> bool:
        self.taken += 1
        return self._real(plain, match)


@pytest.mark.parametrize("seed", NOISE)
def test_the_candidates_grow_with_the_text_and_each_is_bounded(monkeypatch: pytest.MonkeyPatch, seed: str) -> None:
    looks = Looks(monkeypatch)
    counts = []
    for length in (4_000, 8_000):
        looks.taken = 0
        learnt_from((seed * length)[:length])
        counts.append(looks.taken)
    assert counts[1] <= 2 * counts[0] + len(PATTERNS)
    longest = max((len(m[0]) for p in PATTERNS for m in p.expression.finditer((seed * 4_000)[:4_000])), default=0)
    assert longest <= 700


def test_only_so_much_of_the_surroundings_is_read() -> None:
    near = "If so " + "x " * (CONTEXT_LENGTH // 2 - 10)
    far = "If so " + "x " * CONTEXT_LENGTH
    assert learnt_from(near + "by 'cost' I mean 'total_amount'") is None
    assert learnt_from(far + "by 'cost' I mean 'total_amount'") == COST


@pytest.mark.parametrize("seed", ["by 'a' I mean 'b' or ", "\u0301\ud800é ", "if I say 'cost' I mean \"x\" "])
def test_a_megabyte_of_noise(seed: str) -> None:
    noise = (seed * 1_000_000)[:1_000_000]
    assert learnt_from(f"{noise}\n. No, by 'cost' I mean the 'total_amount' field") == COST
