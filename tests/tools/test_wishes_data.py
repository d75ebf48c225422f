"""What the curve of wishes is learnt from names messages that are there."""

import json
from collections import Counter

from infra.tools.judge.__main__ import MONTHS, TALKS
from infra.tools.ranking.wishes import FOLDER, talked, told


def test_each_message_that_is_named_is_one_of_a_user() -> None:
    named = json.loads((FOLDER / "found.json").read_text("utf-8"))
    for talk_id, kinds in named.items():
        (file,) = [*TALKS.glob(f"{talk_id}.json"), *MONTHS.glob(f"{talk_id}.json")]
        talk = json.loads(file.read_bytes())
        turns = talk.get("turns") or talk["messages"]
        users = {turn["id"] for turn in turns if turn.get("role", "user") == "user"}
        assert {one for ids in kinds.values() for one in ids} <= users, talk_id


def test_wishes_and_what_is_none_are_learnt_from_both_sources() -> None:
    for source, least in ((told, 300), (talked, 700)):
        counts = Counter(one.wish for one in source())
        assert counts[True] > least, source
        assert counts[False] > counts[True], source


def test_what_is_unsure_is_not_learnt_from() -> None:
    named = json.loads((FOLDER / "found.json").read_text("utf-8"))
    wishes = sum(len(kinds.get("wishes", ())) for kinds in named.values())
    assert sum(one.wish for one in talked()) == wishes
