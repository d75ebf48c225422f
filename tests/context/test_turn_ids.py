"""The ids of a turn."""

import pytest

from recollect.context.turn import IDS_OF_A_TURN, seed_of_call, seed_of_response
from recollect.core.ids import IdSeed
from recollect.tool_calls.call import ToolCall

SEED = IdSeed(1_700_000_000_000 << 12, 42)


@pytest.mark.spec("P-21")
def test_ids_follow_the_order_in_which_things_are_said() -> None:
    calls = [seed_of_call(SEED, place, ToolCall("save_memory", {"content": str(place)})) for place in range(8)]
    made = [SEED.nth(0), SEED.nth(1), *(seed.nth(n) for seed in calls for n in range(4)), seed_of_response(SEED).nth(0)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert seed_of_response(SEED).nth(1) < IdSeed(SEED.tick + IDS_OF_A_TURN, 0).nth(0)


def test_the_same_call_has_the_same_ids_and_another_one_others() -> None:
    tea, cake = (ToolCall("save_memory", {"content": content}) for content in ("tea", "cake"))
    assert seed_of_call(SEED, 0, tea) == seed_of_call(SEED, 0, ToolCall("save_memory", {"content": "tea"}))
    others = [seed_of_call(SEED, 0, cake), seed_of_call(SEED, 1, tea), seed_of_call(IdSeed(SEED.tick, 43), 0, tea)]
    assert len({seed.nth(0) for seed in [seed_of_call(SEED, 0, tea), *others]}) == 4


def test_neither_the_order_of_fields_nor_a_call_beyond_the_last_makes_other_ids() -> None:
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert seed_of_call(SEED, 0, ToolCall("t", one)) == seed_of_call(SEED, 0, ToolCall("t", other))
    last = seed_of_call(SEED, 7, ToolCall("t", one))
    assert seed_of_call(SEED, 8, ToolCall("t", one)) == last
    assert seed_of_call(SEED, 99, ToolCall("t", one)) == last
    assert (last.tick - SEED.tick, seed_of_response(SEED).tick - SEED.tick) == (2 + 7 * 4, 2 + 8 * 4)
    assert 0 <= last.tail < 1 << 62
