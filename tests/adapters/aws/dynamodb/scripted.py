"""A client that fails as it is told, before or instead of the real one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError

from recollect.adapters.aws.clients import Backoff
from recollect.adapters.aws.table import ItemAccess


def a_client_error(code: str, status: int = 400, reasons: list[dict[str, Any]] | None = None) -> ClientError:
    answer: dict[str, Any] = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    if reasons is not None:
        answer["CancellationReasons"] = reasons
    return ClientError(answer, "Call")


def cancelled(*codes: str) -> ClientError:
    """A cancelled transaction, with one code for each of its operations."""
    return a_client_error("TransactionCanceledException", reasons=[{"Code": code} for code in codes])


class Scripted:
    """Passes calls on; `script` gives for an operation what its next calls do instead: raise, answer, or pass (None).

    `requests` remembers every call.
    """

    def __init__(self, client: Any, **script: list[Any]) -> None:
        self._client = client
        self._script = script
        self.requests: list[tuple[str, dict[str, Any]]] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(**request: Any) -> Any:
            self.requests.append((name, request))
            queue = self._script.get(name, [])
            step = queue.pop(0) if queue else None
            if isinstance(step, Exception):
                raise step
            return step if step is not None else getattr(self._client, name)(**request)

        return call

    def count(self, name: str) -> int:
        return sum(1 for called, _ in self.requests if called == name)


def scripted_access(access: ItemAccess, tries: int = 3, **script: list[Any]) -> tuple[ItemAccess, Scripted]:
    """The access with a client that goes by the script, without pauses."""
    client = Scripted(access.client, **script)
    return replace(access, client=client, backoff=Backoff(tries=tries, sleep=lambda _: None)), client
