"""Topics: what several memories call by name, in writing with and without capitals; never a word that tells nothing."""

import random
from typing import Any

import pytest

from recollect.entrypoints.console.topics import NO_TOPIC, by_topic


def memory(content: str, **more: Any) -> dict[str, Any]:
    return {"content": content, "keywords": [], **more}


def topics(*contents: str) -> dict[str, list[str]]:
    return {name: [one["content"] for one in found] for name, found in by_topic([memory(text) for text in contents])}


DULL = ["I always swim on Mondays, please", "So please, always call before ten", "What is 12 times 40", "Hm"]


@pytest.mark.parametrize(
    ("contents", "names"),
    [
        (["Walked with Duke today", "The vet says Duke is too thin, Duke eats less", *DULL], ["Duke"]),
        (["Mein Knie tut weh", "Der Arzt sieht das Knie an", "Guten Tag", "Zweimal am Tag", *DULL], ["Knie"]),
        (["孟老师两百四了", "孟老师挪到礼拜六晚上七点了", "下礼拜过节路上车多", "挂靠在顺达物流"], ["孟老师"]),
        (["陽翔の負荷試験終わった", "息子の陽翔が小1", "水曜の晩ごはん", "冷凍うどん"], ["陽翔"]),
        (["スイミングの送り", "スイミング級上がって", "チョコ", "ベランダ"], ["スイミング"]),
        (["민수는 400 모았다", "민수랑 투룸", "커피도 줄였음", "접수 놓침"], ["민수"]),
        (["Мы с Ладой гуляли", "Купил корм, Ладой доволен", "Да", "Нет"], ["Ладой"]),
        (["WE MOVED TO LYON", "I LIKE LYON", "Hm", "So"], []),
        (["Swimming on Thursdays", "I run on Thursdays", "See Mrs Tully", "I like Mrs Jo", *DULL], []),
        (["My tea with Ada", "Her tea with ada", "Hm", "So"], []),
        (DULL, []),
        ([], []),
    ],
)
def test_a_topic_is_what_several_call_by_name(contents: list[str], names: list[str]) -> None:
    assert [name for name in topics(*contents) if name != NO_TOPIC] == names


def test_each_stands_in_one_topic_of_two_at_least_and_the_order_makes_no_difference() -> None:
    said = ["I met Tam", "With Tam and Ross", "On to Tam", "So Ross left", "I like Ross", "Off to Leith", "I hum"]
    found = topics(*said)
    assert {name: len(members) for name, members in found.items()} == {"Ross": 3, "Tam": 2, NO_TOPIC: 2}
    assert list(found) == ["Ross", "Tam", NO_TOPIC]
    for seed in range(5):
        other = random.Random(seed).sample(said, len(said))
        assert {name: set(members) for name, members in topics(*other).items()} == {
            name: set(members) for name, members in found.items()
        }


def test_keys_and_keywords_are_topics_as_they_are() -> None:
    found = by_topic(
        [
            memory("Oslo", key="home.city"),
            memory("green in the morning", keywords=["tea"]),
            memory("none after dinner", keywords=["tea", "evening"]),
            memory("I hum"),
        ]
    )
    assert [(name, len(members)) for name, members in found] == [("home.city", 1), ("tea", 2), (NO_TOPIC, 1)]
