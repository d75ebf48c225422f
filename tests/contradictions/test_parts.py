"""A message in clauses, and in parts that a model of pairs reads at once (P-24)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.contradictions.parts import clause_spans, parts_within
from recollect.text.sentences import count_tokens

CLAUSES = [
    (
        "I work at the Adler as a cook, the choir is at 19:30 on Tuesdays and my rent is 1,780.",
        ["I work at the Adler as a cook", "the choir is at 19:30 on Tuesdays and my rent is 1,780."],
    ),
    ("Yes, in Leith since Monday.", ["Yes, in Leith since Monday."]),
    ("I live in Porto. My sister is a nurse.", ["I live in Porto.", "My sister is a nurse."]),
    (
        "Ich wohne jetzt in Graz – der Hund bleibt vorerst bei Oma; die Miete ist 640.",
        ["Ich wohne jetzt in Graz", "der Hund bleibt vorerst bei Oma", "die Miete ist 640."],
    ),
    ("我住在成都的老房子里,每周二晚上去合唱团。", ["我住在成都的老房子里,每周二晚上去合唱团。"]),
    ("我住在成都的老房子里，每周二晚上去合唱团。", ["我住在成都的老房子里", "每周二晚上去合唱团。"]),
    ("住在十八里河 两室一个月一千五 房东五号来收", ["住在十八里河", "两室一个月一千五", "房东五号来收"]),
    ("我每天用 Spotify 听两个小时的歌", ["我每天用 Spotify 听两个小时的歌"]),
    ("우리는 매주 화요일 저녁에 합창단에서 노래해요", ["우리는 매주 화요일 저녁에 합창단에서 노래해요"]),
    ("水曜は弓道の稽古、土曜は畑に行きます。", ["水曜は弓道の稽古", "土曜は畑に行きます。"]),
]


@pytest.mark.spec("P-24")
@pytest.mark.parametrize(("text", "clauses"), CLAUSES)
def test_a_message_is_split_at_pauses_between_what_is_long_enough(text: str, clauses: list[str]) -> None:
    assert [text[start:end] for start, end in clause_spans(text)] == clauses


@given(st.text(alphabet="ab ,.;:!?()–-，。、我住\n", max_size=200))
def test_clauses_lie_one_behind_another_and_leave_no_word_out(text: str) -> None:
    spans = clause_spans(text)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    kept = "".join(text[start:end] for start, end in spans)
    assert [c for c in kept if c.isalnum()] == [c for c in text if c.isalnum()]


@given(st.text(alphabet="ab ,.;:!?()–-，。、我住\n", max_size=300), st.integers(4, 40))
def test_parts_have_every_word_in_order_and_are_no_longer_than_a_clause_needs(text: str, most: int) -> None:
    parts = list(parts_within(text, most))
    longest = max((count_tokens(text[slice(*span)]) for span in clause_spans(text)), default=0)
    assert all(count_tokens(part) <= max(most, longest) for part in parts)
    assert [c for c in "".join(parts) if c.isalnum()] == [c for c in text if c.isalnum()]
