"""What an idempotency record keeps of an applied arbitration: ids, numbers, words of ours (api.md, *Twice*).

Common keywords are kept as their places among the candidate's, which a replay has in its request; what two were
merged into is read back by its id.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from recollect.app import App
from recollect.arbitration.detection import Statement
from recollect.core.errors import NotFound
from recollect.core.scope import Scope
from recollect.entrypoints.http.statements import statement_json


def kept(body: Mapping[str, Any], candidate: Statement) -> dict[str, Any]:
    """The answer without text."""
    words = _words(candidate)
    conflicts = [{**one, "signals": [_placed(signal, words) for signal in one["signals"]]} for one in body["conflicts"]]
    result = dict(body["result"])
    if "merged" in result:
        result["merged"] = result["merged"]["id"]
    return {**body, "conflicts": conflicts, "result": result}


def replayed(app: App, scope: Scope, body: Mapping[str, Any], candidate: Statement, now: datetime) -> dict[str, Any]:
    """The first answer again; `refused` names the merged memory where it was deleted since."""
    words = _words(candidate)
    conflicts = [{**one, "signals": [_worded(signal, words) for signal in one["signals"]]} for one in body["conflicts"]]
    answer = {**body, "conflicts": conflicts, "result": dict(body["result"])}
    merged = answer["result"].get("merged")
    if merged is None:
        return answer
    try:
        shown = _merged(app, scope, body.get("stored", {}).get(merged, merged), now)
        answer["result"]["merged"] = {**shown, "id": merged}
    except NotFound:
        del answer["result"]["merged"]
        answer["refused"] = [merged]
    return answer


def _merged(app: App, scope: Scope, memory_id: str, now: datetime) -> dict[str, Any]:
    memory = app.memories.keep.one(scope, memory_id, now)
    return statement_json(
        Statement(
            id=memory.id,
            user_id=memory.user_id,
            content=memory.content,
            importance=memory.importance,
            timestamp=memory.timestamp,
            source=memory.source.value,
            keywords=memory.keywords,
            persona_id=memory.persona_id,
        )
    )


def _words(candidate: Statement) -> list[str]:
    return list(dict.fromkeys(keyword.casefold() for keyword in candidate.keywords))


def _placed(signal: Mapping[str, Any], words: list[str]) -> dict[str, Any]:
    """A signal whose keywords are places among the words."""
    if "keywords" not in signal:
        return dict(signal)
    return {**signal, "keywords": [words.index(word) for word in signal["keywords"] if word in words]}


def _worded(signal: Mapping[str, Any], words: list[str]) -> dict[str, Any]:
    if "keywords" not in signal:
        return dict(signal)
    return {**signal, "keywords": [words[int(place)] for place in signal["keywords"]]}
