"""What context and search show of the natural talks, as `recollect eval` counts it."""

from __future__ import annotations

import contextlib
import io
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from infra.tools.bench.ours import local_variables
from recollect.bootstrap import open_app
from recollect.entrypoints.cli.evaluate import CUTS, ask_talks
from recollect.importing.gold_data import read_talks
from recollect.retrieval.evaluation import context_quality, search_quality
from recollect.settings import Settings


def natural(folder: Path, model: Path, quick: bool) -> dict[str, Any]:
    """Of messages, prompt and search: means over all questions with evidence, and by kind of question."""
    talks = read_talks(folder)[: 1 if quick else None]
    with tempfile.TemporaryDirectory() as home, contextlib.redirect_stderr(io.StringIO()):
        answers = ask_talks(open_app(Settings.from_environment(local_variables(Path(home), model))), talks)
    shown = {"messages": answers.messages, "prompt": answers.prompts}
    figures: dict[str, Any] = {
        form: {kind: asdict(one) for kind, one in context_quality(answers.questions, lines).items()}
        for form, lines in shown.items()
    }
    for name, lines in (("search", answers.found), ("search_reranked", answers.reranked)):
        found = search_quality(answers.questions, lines, CUTS)
        figures[name] = {kind: asdict(one) for kind, one in found.items()}
    return figures
