"""Models on Amazon Bedrock, by its Converse API: one shape for all of them."""

from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from recollect.adapters.aws.clients import bedrock_translated
from recollect.adapters.http_connection import within
from recollect.context.model_call import ModelAnswer, ModelRequest
from recollect.context.rendering import MessageRole, in_turns
from recollect.core.errors import UpstreamFailed

_CUT = "max_tokens"


class BedrockRuntime(Protocol):
    """The method of the SDK's `bedrock-runtime` client that is called; the client has time-outs and retries."""

    def converse(self, **request: Any) -> dict[str, Any]: ...


class BedrockConverse:
    """One Converse call a request. Safe to share between threads."""

    def __init__(self, client: BedrockRuntime, model_id: str) -> None:
        """`model_id` is that of a model, of an inference profile, or an ARN."""
        self._client, self._model_id = client, model_id

    @property
    def name(self) -> str:
        return f"bedrock:{self._model_id}"

    def generate(self, request: ModelRequest) -> ModelAnswer:
        """The answer's text. Raises Throttled, Unavailable, OutOfTime, or UpstreamFailed.

        UpstreamFailed: a refusal, no text, or JSON that ends at the limit of tokens.
        """
        answer = _read(within(request.seconds, "Bedrock", lambda: self._converse(request)))
        text = "".join(block.text or "" for block in answer.output.message.content)
        if not text.strip():
            raise UpstreamFailed("the model on Bedrock answered no text")
        if request.json_answer and answer.stopReason == _CUT:
            raise UpstreamFailed("the JSON of the model on Bedrock was cut at the limit of tokens")
        usage = answer.usage or _Usage()
        return ModelAnswer(text=text, model=self.name, input_tokens=usage.inputTokens, output_tokens=usage.outputTokens)

    def _converse(self, request: ModelRequest) -> dict[str, Any]:
        """User and assistant by turns, the user first: Converse refuses anything else."""
        sent = [message for message in request.messages if message.content.strip()]  # it refuses blank texts
        system = [{"text": message.content} for message in sent if message.role is MessageRole.SYSTEM]
        turns = in_turns([message for message in sent if message.role is not MessageRole.SYSTEM])
        with bedrock_translated():
            return self._client.converse(
                modelId=self._model_id,
                messages=[{"role": turn.role.value, "content": [{"text": turn.content}]} for turn in turns],
                inferenceConfig={"maxTokens": request.max_tokens},
                **({"system": system} if system else {}),
            )


class _Block(BaseModel):
    text: str | None = None


class _Message(BaseModel):
    content: list[_Block]


class _Output(BaseModel):
    message: _Message


class _Usage(BaseModel):
    inputTokens: int | None = None
    outputTokens: int | None = None


class _Answer(BaseModel):
    output: _Output
    stopReason: str | None = None
    usage: _Usage | None = None


def _read(answer: dict[str, Any]) -> _Answer:
    try:
        return _Answer.model_validate(answer)
    except ValidationError:
        raise UpstreamFailed("Bedrock answered something else than a message") from None
