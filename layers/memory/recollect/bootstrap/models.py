"""Which language model and which web search a deployment has."""

from functools import cached_property
from typing import TYPE_CHECKING

from recollect.ports import Model, WebSearch
from recollect.search_index.health import PartState
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.adapters.models.resilient import ResilientModel

_LEAST_SECONDS_IN_PROCESS = 0.2
_LEAST_SECONDS_REMOTE = 5.0
_CONNECT_SECONDS = 2.0


class Modelling:
    """The providers that are set, in their order, each made when first asked for."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def model(self) -> Model:
        """The provider without a model as it is; every other one with retries, breaker and those after it (K-78)."""
        return self._extractive if self._settings.model == ("extractive",) else self._resilient

    @cached_property
    def web_search(self) -> WebSearch | None:
        """The web search that is set (K-81); None where it is off."""
        if self._settings.web_search == "off":
            return None
        from recollect.adapters.web_search import DuckDuckGo

        return DuckDuckGo(self._settings.web_search_url)

    def check(self) -> PartState:
        """Always ready, and asks nobody: without a model memory goes on. Tells which providers are left alone now."""
        made = self.__dict__.get("_resilient")
        return PartState(True, made.state if made else ", ".join(map(self._name_of, self._settings.model)))

    @cached_property
    def _resilient(self) -> "ResilientModel":
        from recollect.adapters.models.resilient import RetryPolicy, resilient

        models = [(self._model_of(provider), _least_seconds(provider)) for provider in self._settings.model]
        return resilient(models, RetryPolicy(attempt_seconds=self._settings.model_timeout_seconds))

    def _model_of(self, provider: str) -> Model:
        match provider:
            case "openai":
                return self._openai
            case "bedrock":
                return self._bedrock
            case _:
                return self._extractive

    @cached_property
    def _extractive(self) -> Model:
        from recollect.adapters.models.extractive import ExtractiveModel

        return ExtractiveModel()

    @cached_property
    def _openai(self) -> Model:
        from recollect.adapters.models.openai_chat import ChatEndpoint, OpenAiChat

        settings = self._settings
        return OpenAiChat(
            ChatEndpoint(
                base_url=settings.openai_base_url, model=settings.openai_model, api_key=settings.openai_api_key or None
            )
        )

    @cached_property
    def _bedrock(self) -> Model:
        import boto3
        from botocore.config import Config

        from recollect.adapters.models.bedrock_converse import BedrockConverse

        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=self._settings.model_timeout_seconds,
            retries={"mode": "standard", "total_max_attempts": 1},
        )
        return BedrockConverse(boto3.client("bedrock-runtime", config=config), self._settings.bedrock_model)

    def _name_of(self, provider: str) -> str:
        """As the provider will call itself, without making it."""
        named = {"openai": self._settings.openai_model, "bedrock": self._settings.bedrock_model}
        return f"{provider}:{named[provider]}" if provider in named else provider


def _least_seconds(provider: str) -> float:
    return _LEAST_SECONDS_IN_PROCESS if provider == "extractive" else _LEAST_SECONDS_REMOTE
