"""The provider without a model: it quotes the recalled evidence."""

import json

from recollect.context.extractive_answer import answer_from
from recollect.context.model_call import ModelAnswer, ModelRequest, Task
from recollect.core.event import QUOTING_MODEL


class ExtractiveModel:
    """Deterministic and immediate; it reads the request's evidence and the user's input, no message."""

    @property
    def name(self) -> str:
        return QUOTING_MODEL

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """Quotes (`converse`) or a summary (`summarize`), of at most `max_words` words; raises nothing."""
        text = _summary(request) if request.task is Task.SUMMARIZE else _answer(request)
        return ModelAnswer(text=text, model=self.name)


def _answer(request: ModelRequest) -> str:
    return answer_from(request.evidence, request.user_input, request.max_words)


def _summary(request: ModelRequest) -> str:
    """The JSON of api.md, *Summaries*; the text alone where no JSON is asked for."""
    from recollect.summaries.extractive import extract_goals, extractive_summary

    summary = extractive_summary(request.evidence, None, request.max_words)
    if not request.json_answer:
        return summary
    return json.dumps({"summary": summary, "tracked_goals": extract_goals(request.evidence)}, ensure_ascii=False)
