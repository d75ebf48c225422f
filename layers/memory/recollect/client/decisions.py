"""Decisions between memories, and conflicts that are open: a part of both clients."""

from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator
from typing import Unpack

from recollect.client import contradiction_calls as calls
from recollect.client.calls import Call
from recollect.client.shapes import ConflictListOptions, DecisionListOptions, Json, Narrowing


class Decisions:
    """What the client that waits has of them."""

    @abstractmethod
    def _answer(self, call: Call) -> Json: ...
    @abstractmethod
    def _items(self, call: Call, name: str) -> Iterator[Json]: ...

    def decisions(self, user_id: str, **options: Unpack[DecisionListOptions]) -> Iterator[Json]:
        """What was decided between memories, what the newest records won first, through all pages."""
        return self._items(calls.decisions(user_id, options), "arbitrations")

    def revert_decision(
        self, user_id: str, decision_id: str, *, idempotency_key: str | None = None, **narrowing: Unpack[Narrowing]
    ) -> Json:
        """Takes a decision back: answers it with the `memory` that counts now. Raises NotFound, Conflict."""
        return self._answer(calls.revert_decision(user_id, decision_id, idempotency_key, narrowing))

    def conflicts(self, user_id: str, **options: Unpack[ConflictListOptions]) -> Iterator[Json]:
        """Memories of which nobody can tell which counts, and those that were settled, through all pages."""
        return self._items(calls.conflicts(user_id, options), "conflicts")

    def resolve_conflict(
        self,
        user_id: str,
        conflict_id: str,
        winner: str,
        *,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Json:
        """The winner counts, the other one is superseded by it. Raises NotFound, Conflict, Unprocessable."""
        return self._answer(calls.resolve_conflict(user_id, conflict_id, winner, idempotency_key, narrowing))


class AsyncDecisions:
    """What the client that does not wait has of them."""

    @abstractmethod
    async def _answer(self, call: Call) -> Json: ...
    @abstractmethod
    def _items(self, call: Call, name: str) -> AsyncIterator[Json]: ...

    def decisions(self, user_id: str, **options: Unpack[DecisionListOptions]) -> AsyncIterator[Json]:
        """What was decided between memories, what the newest records won first, through all pages."""
        return self._items(calls.decisions(user_id, options), "arbitrations")

    async def revert_decision(
        self, user_id: str, decision_id: str, *, idempotency_key: str | None = None, **narrowing: Unpack[Narrowing]
    ) -> Json:
        """Takes a decision back: answers it with the `memory` that counts now. Raises NotFound, Conflict."""
        return await self._answer(calls.revert_decision(user_id, decision_id, idempotency_key, narrowing))

    def conflicts(self, user_id: str, **options: Unpack[ConflictListOptions]) -> AsyncIterator[Json]:
        """Memories of which nobody can tell which counts, and those that were settled, through all pages."""
        return self._items(calls.conflicts(user_id, options), "conflicts")

    async def resolve_conflict(
        self,
        user_id: str,
        conflict_id: str,
        winner: str,
        *,
        idempotency_key: str | None = None,
        **narrowing: Unpack[Narrowing],
    ) -> Json:
        """The winner counts, the other one is superseded by it. Raises NotFound, Conflict, Unprocessable."""
        return await self._answer(calls.resolve_conflict(user_id, conflict_id, winner, idempotency_key, narrowing))
