"""What a summary without a model holds of the turns that answer questions: against first and random sentences.

A conversation is one user; all its turns are stored and one summary is forced, as `POST …/summaries?force=true` makes
it: of everything but the newest ten turns, merged in steps. Gold turns are those that any question names. Neither the
questions nor the gold reach the summary.
"""

from __future__ import annotations

import random
import re
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from bench_data import DataSet, Turn
from bench_ours import TENANT, draft_of

from recollect.app import App
from recollect.bootstrap import open_app
from recollect.core.scope import Scope
from recollect.settings import Settings
from recollect.summaries.summarize import IDS, SummaryMade, SummaryOrder
from recollect.summaries.summary import Summary
from recollect.text.sentences import split_sentences

DRAWS = 50
STOP_WORDS = frozenset((Path(__file__).with_name("english_stop_words.txt")).read_text("utf-8").split())
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_BATCH = 100


def summaries(data: DataSet) -> dict[str, Any]:
    """Mean share of a gold turn's content words, over all gold turns; words of a text; seconds of a summary."""
    shares: dict[str, list[float]] = {"summary": [], "first sentences": [], "random sentences": []}
    words, seconds, gold_turns, messages = [], [], 0, 0
    with tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder:
        app = open_app(Settings.from_environment({"RECOLLECT_HOME": folder, "RECOLLECT_EMBEDDER": "none"}))
        for conversation, turns in _by_conversation(data).items():
            made, took = _summarized(app, conversation, turns)
            covered = turns[: made.message_count]
            gold = _gold(data, conversation, covered)
            length = len(made.text.split())
            for name, texts in _texts(made.text, covered, length).items():
                shares[name] += [statistics.fmean(share(text, turn) for text in texts) for turn in gold]
            words.append(length)
            seconds.append(took)
            gold_turns, messages = gold_turns + len(gold), messages + len(covered)
        app.parts.close()
    return {
        "shares": {name: statistics.fmean(found) for name, found in shares.items()},
        "words": statistics.fmean(words),
        "seconds": statistics.fmean(seconds),
        "gold_turns": gold_turns,
        "messages": messages,
        "conversations": len(words),
    }


def content_words(text: str) -> frozenset[str]:
    """Words in lower case that are no stop words; not stemmed."""
    return frozenset(_WORD.findall(text.lower().replace("’", "'"))) - STOP_WORDS


def share(text: str, turn: str) -> float:
    """The share of a turn's content words that a text holds."""
    wanted = content_words(turn)
    return len(wanted & content_words(text)) / len(wanted)


def _texts(summary: str, covered: Sequence[Turn], length: int) -> Mapping[str, Sequence[str]]:
    """The summary, and texts of exactly as many words: the first sentences, and random ones drawn fifty times."""
    sentences = [sentence for turn in covered for sentence in split_sentences(turn.text)]
    drawn = [random.Random(draw).sample(sentences, len(sentences)) for draw in range(DRAWS)]
    return {
        "summary": [summary],
        "first sentences": [_cut(sentences, length)],
        "random sentences": [_cut(one, length) for one in drawn],
    }


def _cut(sentences: Sequence[str], length: int) -> str:
    return " ".join(" ".join(sentences).split()[:length])


def _gold(data: DataSet, conversation: str, covered: Sequence[Turn]) -> list[str]:
    named = {turn_id for q in data.questions if q.conversation == conversation for turn_id in q.evidence}
    return [turn.text for turn in covered if turn.turn_id in named and content_words(turn.text)]


def _by_conversation(data: DataSet) -> dict[str, list[Turn]]:
    grouped: dict[str, list[Turn]] = {}
    for turn in data.turns:
        grouped.setdefault(turn.conversation, []).append(turn)
    return grouped


def _summarized(app: App, conversation: str, turns: Sequence[Turn]) -> tuple[Summary, float]:
    scope, now = Scope(TENANT, conversation), max(turn.said_at for turn in turns) + timedelta(days=1)
    rules = app.rules.resolved(TENANT)
    for start in range(0, len(turns), _BATCH):
        drafts = [draft_of(turn) for turn in turns[start : start + _BATCH]]
        app.timeline.ingest(scope, conversation, drafts, _seed(app, len(drafts) + 1), now, rules)
    order = SummaryOrder(
        now=now, rules=rules.summary, seed=_seed(app, IDS), remaining_seconds=lambda: 600.0, force=True
    )  # fmt: skip
    began = time.perf_counter()
    made = app.summaries.summarize(scope, order)
    if not isinstance(made, SummaryMade):
        raise RuntimeError(f"nothing was made of {conversation}")
    return made.summary, time.perf_counter() - began


def _seed(app: App, count: int) -> Any:
    return app.ids.seed(time.time_ns() // 1_000_000, count)
