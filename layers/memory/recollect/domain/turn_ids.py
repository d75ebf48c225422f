"""The ids of one turn: a retry with the same seed makes the same ones, in the order in which things are said."""

import hashlib
import json

from recollect.domain.ids import IdSeed
from recollect.domain.tool_calls.call import ToolCall

_FIRST_CALL = 2  # after the input and the conversation
_IDS_OF_A_CALL = 4
_MOST_CALLS = 8
_RESPONSE = _FIRST_CALL + _MOST_CALLS * _IDS_OF_A_CALL

IDS_OF_A_TURN = _RESPONSE + 2

_TAIL_MASK = (1 << 62) - 1


def seed_of_call(seed: IdSeed, position: int, call: ToolCall) -> IdSeed:
    """For what the call at that position (from 0) stores.

    It depends on what is called: a retry in which the model asks for something else must not meet the ids of what it
    asked for first, and take its wish for done.
    """
    words = json.dumps([seed.encode(), call.tool, call.action, dict(call.parameters)], sort_keys=True)
    tail = int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big") & _TAIL_MASK
    return IdSeed(seed.tick + _FIRST_CALL + min(position, _MOST_CALLS - 1) * _IDS_OF_A_CALL, tail)


def seed_of_response(seed: IdSeed) -> IdSeed:
    """For the response: after all that was done on the way to it."""
    return IdSeed(seed.tick + _RESPONSE, seed.tail)
