"""Any server with an OpenAI-compatible `/chat/completions` route: Ollama, vLLM, OpenAI."""

from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from recollect.adapters.http_connection import Deadline, HttpAnswer, HttpConnection, openai_service
from recollect.context.model_call import ModelAnswer, ModelRequest
from recollect.core.errors import OutOfTime, UpstreamFailed

_NOT_UNDERSTOOD = 400
_CUT = "length"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatEndpoint:
    """Where the model is: `base_url` ends before `/chat/completions`."""

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class _Dialect:
    """Differences between servers: whether they have a JSON mode, and the field of the token limit."""

    json_mode: bool = True
    limit_field: str = "max_tokens"


class OpenAiChat:
    """One completion a request, over HTTP; repeats only what a server does not understand."""

    def __init__(self, endpoint: ChatEndpoint) -> None:
        self._model = endpoint.model
        self._connection = HttpConnection(openai_service("the model's server", endpoint.base_url, endpoint.api_key))
        self._dialect = _Dialect()

    @property
    def name(self) -> str:
        return f"openai:{self._model}"

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """The first choice's text. Raises Throttled, Unavailable, OutOfTime, or UpstreamFailed.

        UpstreamFailed: a refusal, no text, or JSON that ends at the limit of tokens.
        """
        completion = _read(self._completed(request).content)
        choice = completion.choices[0]
        if not choice.message.content or not choice.message.content.strip():
            raise UpstreamFailed("the model answered no text")
        if request.json_answer and choice.finish_reason == _CUT:
            raise UpstreamFailed("the model's JSON was cut at the limit of tokens")
        usage = completion.usage or _Usage()
        return ModelAnswer(
            text=choice.message.content,
            model=self.name,
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
        )

    def _completed(self, request: ModelRequest) -> HttpAnswer:
        """Uses the dialect that worked last, and others while the server answers 400."""
        deadline, dialect = Deadline(request.seconds), self._dialect
        answer = self._ask(request, dialect, deadline)
        while answer.status == _NOT_UNDERSTOOD and (other := _other_dialect(dialect, request, answer)):
            dialect = other
            answer = self._ask(request, dialect, deadline)
        if answer.status != _NOT_UNDERSTOOD:
            self._dialect = dialect
        return answer

    def _ask(self, request: ModelRequest, dialect: _Dialect, deadline: Deadline) -> HttpAnswer:
        if deadline.seconds_left <= 0:
            raise OutOfTime("the model's server did not answer in time")
        return self._connection.post("/chat/completions", self._body(request, dialect), deadline.seconds_left)

    def _body(self, request: ModelRequest, dialect: _Dialect) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": m.role.value, "content": m.content} for m in request.messages],
            dialect.limit_field: request.max_tokens,
        }
        if request.json_answer and dialect.json_mode:
            body["response_format"] = {"type": "json_object"}
        return body


class _Text(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Text
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None


class _Fault(BaseModel):
    param: str | None = None


class _Refusal(BaseModel):
    error: _Fault


def _read(content: bytes) -> _Completion:
    try:
        return _Completion.model_validate_json(content)
    except ValidationError:
        raise UpstreamFailed("the model's server answered something else than a completion") from None


def _other_dialect(dialect: _Dialect, request: ModelRequest, answer: HttpAnswer) -> _Dialect | None:
    """The dialect after a 400: with the other name of the field that it names, else without JSON mode."""
    if _param_at_fault(answer) == dialect.limit_field == "max_tokens":
        return replace(dialect, limit_field="max_completion_tokens")
    return replace(dialect, json_mode=False) if request.json_answer and dialect.json_mode else None


def _param_at_fault(answer: HttpAnswer) -> str | None:
    try:
        return _Refusal.model_validate_json(answer.data).error.param
    except ValidationError:
        return None
