"""What is asked: of ten requests six tell a message, three search, one builds a context, each of one of the users."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MESSAGE, SEARCH, CONTEXT = "message", "search", "context"
SHARES = {MESSAGE: 6, SEARCH: 3, CONTEXT: 1}
_PLACES = ("Lyon", "Porto", "Graz", "Oslo", "Turin", "Bergen", "Leeds", "Gent")
_THINGS = ("bicycle", "piano", "kitchen", "garden", "passport", "dentist", "camera", "train")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    kind: str
    path: str
    body: dict[str, Any]


def user_name(run: str, number: int) -> str:
    """A user of this run alone."""
    return f"load-{run}-{number}"


def asked(run: str, users: int, count: int, seed: int) -> Iterator[Asked]:
    """So many requests, the same for the same seed."""
    chance = random.Random(seed)
    kinds, weights = list(SHARES), list(SHARES.values())
    for number in range(count):
        kind = chance.choices(kinds, weights)[0]
        user = user_name(run, chance.randrange(users))
        yield _of(kind, user, f"{chance.choice(_THINGS)} in {chance.choice(_PLACES)}", number)


def _of(kind: str, user: str, words: str, number: int) -> Asked:
    if kind == MESSAGE:
        said = [{"role": "user", "content": f"On day {number} I thought about the {words}."}]
        return Asked(kind, "/v1/events", {"user_id": user, "conversation_id": "load", "events": said})
    if kind == SEARCH:
        return Asked(kind, "/v1/search", {"user_id": user, "query": f"What was with the {words}?"})
    return Asked(kind, "/v1/context", {"user_id": user, "conversation_id": "load", "input": f"The {words} again?"})
