"""A language model that answers by a script, and the settings of a judge that asks one."""

import json

from recollect.context.model_call import ModelAnswer, ModelRequest
from recollect.core.errors import RecollectError

NAME = "openai:scripted"
MODEL = {
    "RECOLLECT_JUDGE": "model",
    "RECOLLECT_MODEL": "openai",
    "RECOLLECT_OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "RECOLLECT_OPENAI_MODEL": "scripted",
}


class Scripted:
    """A model that answers with these texts in turn, the last one again and again, or raises."""

    name = NAME

    def __init__(self, *answers: str | RecollectError) -> None:
        self.answers = list(answers)
        self.asked: list[ModelRequest] = []

    def generate(self, request: ModelRequest) -> ModelAnswer:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, RecollectError):
            raise answer
        return ModelAnswer(text=answer, model=NAME, input_tokens=120, output_tokens=12)


def says(relation: str, confidence: float = 0.95) -> str:
    return json.dumps({"relation": relation, "confidence": confidence})
