"""Arbitration, merging and merge rules: a part of the client for asyncio."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from recollect.client import arbitration_calls
from recollect.client.calls import Call
from recollect.client.shapes import Json


class AsyncArbitrationMethods:
    """Mixed into `AsyncRecollect`; raises as it does."""

    async def _answer(self, call: Call) -> dict[str, Any]:
        raise NotImplementedError

    def _items(self, call: Call, name: str) -> AsyncIterator[Json]:
        raise NotImplementedError

    async def arbitrate(
        self,
        candidate: Mapping[str, Any],
        existing: Sequence[Mapping[str, Any]] = (),
        *,
        options: Mapping[str, Any] | None = None,
        rule: str | None = None,
        apply: bool = False,
        idempotency_key: str | None = None,
    ) -> Json:
        """Which of a candidate and existing memories counts; `apply` stores it, without existing ones of the store."""
        call = arbitration_calls.arbitrate(candidate, existing, options, rule, apply, idempotency_key)
        return await self._answer(call)

    async def merge(
        self, first: Mapping[str, Any], second: Mapping[str, Any], *, options: Mapping[str, Any] | None = None
    ) -> Json:
        """Two statements as one, and what was done; stores nothing."""
        return await self._answer(arbitration_calls.merge(first, second, options))

    def merge_rules(self, *, limit: int | None = None) -> AsyncIterator[Json]:
        """All merge rules; with a limit, which is a page's, by name."""
        return self._items(arbitration_calls.merge_rules(limit), "rules")

    async def merge_rule(self, name: str) -> Json:
        """A merge rule, raw and `resolved`. Raises NotFound."""
        return await self._answer(arbitration_calls.merge_rule(name))

    async def put_merge_rule(self, name: str, document: Mapping[str, Any], *, version: int | None = None) -> Json:
        """Registers or replaces a merge rule. Raises VersionMismatch for another version."""
        return await self._answer(arbitration_calls.put_merge_rule(name, document, version))

    async def patch_merge_rule(self, name: str, changes: Mapping[str, Any], *, version: int | None = None) -> Json:
        """Merges changes into a merge rule; None takes a property away. Raises NotFound and VersionMismatch."""
        return await self._answer(arbitration_calls.patch_merge_rule(name, changes, version))

    async def delete_merge_rule(self, name: str, *, version: int | None = None) -> None:
        """Deletes a merge rule. Raises NotFound, VersionMismatch, and Conflict where another one extends it."""
        await self._answer(arbitration_calls.delete_merge_rule(name, version))

    async def import_merge_rules(
        self, rules: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Json:
        """Registers all of these merge rules, as `merge_rules` gives them, or none."""
        return await self._answer(arbitration_calls.import_merge_rules(rules, idempotency_key))

    async def match_merge_rule(self, candidate: Mapping[str, Any]) -> Json:
        """The merge rule that a candidate meets: its name, and what it says."""
        return await self._answer(arbitration_calls.match_merge_rule(candidate))
