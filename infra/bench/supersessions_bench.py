"""What is superseded where nobody contradicts anybody much: LoCoMo ingested whole, every decision printed.

Ids and counts are the figures; the two texts of each decision go to a file in build/bench for a person to read, and no
further (the data's licence).
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_data import DataSet
from bench_ours import TENANT, OurMemory, local_variables, open_watched, passage_of
from bench_vectors import BenchEmbedder, KeptVectors

from recollect.app import App
from recollect.contradictions.decisions import (
    ARBITRATIONS,
    CONFLICTS,
    ConflictStatus,
    Decision,
    DecisionStatus,
    conflict_in,
    decision_in,
)
from recollect.core.items import Item, ItemPath
from recollect.core.scope import Scope
from recollect.core.vectors import TextKind

REVIEWED = Path(__file__).with_name("reviewed_supersessions.json")
"""`{"conversation:winner:loser": true | false}`, turns by their ids: whether a person calls the decision right."""

_PAGE = 200


def supersessions(
    data: DataSet, embedder: BenchEmbedder, kept: KeptVectors, model: Path, printed: Path
) -> dict[str, Any]:
    """All conversations, each a user, in one store; what nobody has called right counts as false."""
    kept.prepare([passage_of(turn) for turn in data.turns], TextKind.PASSAGE)
    embedder.live = False
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as home:
        memory = OurMemory(open_watched(local_variables(Path(home), model), embedder))
        memory.load(data.turns)
        try:
            return _figures(data, memory, printed)
        finally:
            memory.close()
            embedder.live = True


def _figures(data: DataSet, memory: OurMemory, printed: Path) -> dict[str, Any]:
    users = list(dict.fromkeys(turn.conversation for turn in data.turns))
    texts = {(turn.conversation, turn.turn_id): f"{turn.speaker}: {turn.text}" for turn in data.turns}
    reviewed: dict[str, bool] = json.loads(REVIEWED.read_text("utf-8")) if REVIEWED.exists() else {}
    made = [(user, one) for user in users for one in _decisions(memory.app, user)]
    rows = [_row(memory, user, one, reviewed) for user, one in made]
    printed.write_text(
        "\n\n".join(_printed(row, one, texts) for row, (_, one) in zip(rows, made, strict=True)), "utf-8"
    )
    false = [row["id"] for row in rows if row["right"] is not True]
    return {
        "turns": len(data.turns),
        "decisions": rows,
        "by_rule": dict(Counter(one.rule for _, one in made).most_common()),
        "by_outcome": dict(Counter(one.outcome.value for _, one in made)),
        "unread": sum(row["right"] is None for row in rows),
        "open_conflicts": {user: _open_conflicts(memory.app, user) for user in users},
        "false": false,
        "share": len(false) / len(data.turns),
    }


def _row(memory: OurMemory, user: str, decision: Decision, reviewed: dict[str, bool]) -> dict[str, Any]:
    winner, loser = memory.turn_id(decision.winner), memory.turn_id(decision.loser)
    name = f"{user}:{winner}:{loser}"
    told = {"rule": decision.rule, "step": decision.step.value, "outcome": decision.outcome.value}
    return {"id": name, "user": user, "winner": winner, "loser": loser, **told, "right": reviewed.get(name)}


def _printed(row: dict[str, Any], decision: Decision, texts: dict[tuple[str, str], str]) -> str:
    older, newer = texts[(row["user"], row["loser"])], texts[(row["user"], row["winner"])]
    said = {None: "unread", True: "right", False: "false"}[row["right"]]
    return f"{row['id']} {decision.outcome.value} by {decision.rule} [{said}]\n  - {older}\n  + {newer}"


def _decisions(app: App, user: str) -> list[Decision]:
    """Those that hold, of steps 2 and 3."""
    decisions = [decision_in(item.value) for item in _all(app, Scope(TENANT, user), ARBITRATIONS)]
    return [one for one in decisions if one.status is DecisionStatus.APPLIED]


def _open_conflicts(app: App, user: str) -> dict[str, int]:
    conflicts = [conflict_in(item.value) for item in _all(app, Scope(TENANT, user), CONFLICTS)]
    return dict(Counter(one.step.value for one in conflicts if one.status is ConflictStatus.OPEN))


def _all(app: App, scope: Scope, path: ItemPath) -> Iterator[Item]:
    after: str | None = None
    while True:
        page = app.parts.items.page(scope, path, _PAGE, after)
        yield from page.items
        after = page.more
        if after is None:
            return
