"""The embedder, the judge, the language model and the web search that a deployment has configured."""

import os
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from recollect.adapters.connections import noted
from recollect.adapters.embedders.model_folder import GENERATION, pooled_generation
from recollect.core.errors import INSTALL_AWS, NotReady, require_package
from recollect.core.vectors import TextKind, require_arrays
from recollect.ports import Embedder, Model, PairModel, PartState, RelevanceModel, WebSearch
from recollect.settings import Settings

LAYER_MODELS = Path("/opt/recollect-models")
_LEAST_SECONDS_IN_PROCESS = 0.2
_LEAST_SECONDS_REMOTE = 5.0
_CONNECT_SECONDS = 2.0


def model_folder(settings: Settings) -> Path:
    """The folder of the in-process model: the configured one, a layer's, or the user's cache; it may not exist."""
    if settings.model_folder:
        return Path(settings.model_folder)
    layer = LAYER_MODELS / GENERATION
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    return layer if layer.exists() else cache / "recollect" / "models" / GENERATION


class Embedding:
    """The configured embedder. Where its model is missing, search is by words alone, and readiness reports it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    @cached_property
    def outcome(self) -> Embedder | NotReady | None:
        """The embedder; NotReady where its model is missing; None where `none` is configured."""
        try:
            return _embedder(self._settings)
        except NotReady as error:
            return error

    @property
    def embedder(self) -> Embedder | None:
        """The embedder, if there is one."""
        return None if isinstance(self.outcome, NotReady) else self.outcome

    @property
    def generation(self) -> str | None:
        """The generation of this deployment's vectors, also in a process without the model; None where it has none."""
        if self._settings.embedder == "e5" and not self._settings.model_folder:
            return pooled_generation(GENERATION)
        return self.embedder.generation if self.embedder else None

    def check(self) -> PartState:
        """Ready with the generation's name, or with a note that search is by words alone. Raises NotReady."""
        if isinstance(self.outcome, NotReady):
            raise self.outcome
        if self.outcome is None:
            return PartState(True, "none: search is by words alone")
        return PartState(True, f"{self.outcome.generation}, {self.outcome.dimension} dimensions")


def _embedder(settings: Settings) -> Embedder | None:
    match settings.embedder:
        case "none":
            return None
        case "hashing":
            require_arrays("RECOLLECT_EMBEDDER=hashing")
            from recollect.adapters.embedders.hashing import HashingEmbedder

            return HashingEmbedder()
        case "openai":
            return _openai_embedder(settings)
        case "bedrock":
            return _bedrock_embedder(settings)
        case _ if settings.model_function:
            return _embedder_elsewhere(settings)
        case _:
            require_package("onnxruntime", "the in-process embedder")
            from recollect.adapters.embedders.onnx_embedder import OnnxEmbedder, pooled

            return pooled(OnnxEmbedder(model_folder(settings)))


def _embedder_elsewhere(settings: Settings) -> Embedder:
    from recollect.adapters.aws.model_function import FunctionEmbedder
    from recollect.adapters.embedders.onnx_embedder import centre_of, learned_of, scale_of

    centre = centre_of(GENERATION)
    assert centre is not None, "the shipped model has one"
    return FunctionEmbedder(
        function=_model_function(settings),
        generation=pooled_generation(GENERATION),
        dimension=len(centre),
        similarity_scale=scale_of(GENERATION),
        question_scale=scale_of(GENERATION, TextKind.QUESTION),
        learned=learned_of(GENERATION),
    )


def _model_function(settings: Settings) -> "ModelFunction":
    from recollect.adapters.aws.model_function import ModelFunction, lambda_client

    return ModelFunction(lambda_client(), settings.model_function)


def _openai_embedder(settings: Settings) -> Embedder:
    require_arrays("RECOLLECT_EMBEDDER=openai")
    from recollect.adapters.embedders.remote import OpenAiEmbedder, OpenAiEndpoint

    return OpenAiEmbedder(
        OpenAiEndpoint(
            base_url=settings.openai_base_url,
            api_key=settings.openai_api_key or None,
            model=settings.openai_embedding_model,
            dimension=settings.embedding_dimension,
        )
    )


def _bedrock_embedder(settings: Settings) -> Embedder:
    require_package("boto3", "RECOLLECT_EMBEDDER=bedrock", INSTALL_AWS)
    import boto3
    from botocore.config import Config

    from recollect.adapters.embedders.remote import BedrockEmbedder

    timeout = settings.call_timeout_seconds
    retries = {"mode": "standard", "total_max_attempts": 2}
    config = Config(connect_timeout=timeout, read_timeout=timeout, retries=retries)
    client = noted(boto3.client("bedrock-runtime", config=config), lambda known: known.close())
    return BedrockEmbedder(client, settings.embedding_dimension)


class Versioned(Protocol):
    """A model that says which one it is."""

    @property
    def version(self) -> str:
        """Its name and version."""


M = TypeVar("M", bound=Versioned)


class BesideEmbedder(Generic[M]):
    """A model in the embedder's folder, where it is configured. Where it is missing readiness reports it."""

    def __init__(self, settings: Settings, wanted: str, opened: Callable[[Path], M], without: str) -> None:
        """`wanted` is the setting's value; `without` says what happens where no model is configured."""
        self._settings = settings
        self._wanted = wanted
        self._opened = opened
        self._without = without

    @cached_property
    def outcome(self) -> M | NotReady | None:
        """The model; NotReady where it is missing; None where none is configured."""
        if self._wanted == "none" or (self._wanted == "auto" and self._settings.embedder != "e5"):
            return None
        try:
            return self._opened(model_folder(self._settings))
        except NotReady as error:
            return error

    @property
    def model(self) -> M | None:
        """The model, if there is one."""
        return None if isinstance(self.outcome, NotReady) else self.outcome

    def check(self) -> PartState:
        """Ready with the model's version, or with a note that there is none. Raises NotReady."""
        if isinstance(self.outcome, NotReady):
            raise self.outcome
        return PartState(True, self.outcome.version if self.outcome else f"none: {self._without}")


def _pair_model(folder: Path) -> PairModel:
    require_package("onnxruntime", "the in-process judge")
    from recollect.adapters.judges.onnx_pairs import OnnxPairModel

    return OnnxPairModel(folder)


def _relevance_model(settings: Settings, folder: Path) -> RelevanceModel:
    if settings.model_function:
        from recollect.adapters.aws.model_function import FunctionRelevance

        return FunctionRelevance(_model_function(settings))
    require_package("onnxruntime", "the in-process second stage")
    from recollect.adapters.relevance.onnx_relevance import OnnxRelevance

    return OnnxRelevance(folder)


if TYPE_CHECKING:
    from recollect.adapters.aws.model_function import ModelFunction
    from recollect.adapters.models.resilient import ResilientModel


class ProviderParts:
    """The parts that the engines do not change: the embedder, and the configured models in their order."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedding = Embedding(settings)
        self._judge = BesideEmbedder(settings, settings.judge, _pair_model, "keys alone settle contradictions")
        relevance = partial(_relevance_model, settings)
        self._rerank = BesideEmbedder(settings, settings.rerank, relevance, "the first stage alone ranks")

    @property
    def pair_model(self) -> PairModel | None:
        """The judge's model, if there is one."""
        return self._judge.model

    @property
    def relevance_model(self) -> RelevanceModel | None:
        """The second stage's model, if there is one."""
        return self._rerank.model

    @property
    def embedder(self) -> Embedder | None:
        """The embedder, if there is one."""
        return self._embedding.embedder

    @cached_property
    def model(self) -> Model:
        """The extractive provider alone as it is; others with retries, breaker and fallbacks (K-78)."""
        return self._extractive if self._settings.model == ("extractive",) else self._resilient

    @cached_property
    def web_search(self) -> WebSearch | None:
        """The configured web search (K-81); None where it is off."""
        if self._settings.web_search == "off":
            return None
        from recollect.adapters.web_search import DuckDuckGo

        return DuckDuckGo(self._settings.web_search_url)

    def model_state(self) -> PartState:
        """Always ready, without a call: memory works without a model. Reports providers whose breaker is open."""
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
        from recollect.adapters.models.resilient import ExtractiveModel

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
        require_package("boto3", "RECOLLECT_MODEL=bedrock", INSTALL_AWS)
        import boto3
        from botocore.config import Config

        from recollect.adapters.models.bedrock_converse import BedrockConverse

        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=self._settings.model_timeout_seconds,
            retries={"mode": "standard", "total_max_attempts": 1},
        )
        client = noted(boto3.client("bedrock-runtime", config=config), lambda known: known.close())
        return BedrockConverse(client, self._settings.bedrock_model)

    def _name_of(self, provider: str) -> str:
        """The provider's own name, without making it."""
        named = {"openai": self._settings.openai_model, "bedrock": self._settings.bedrock_model}
        return f"{provider}:{named[provider]}" if provider in named else provider


def _least_seconds(provider: str) -> float:
    return _LEAST_SECONDS_IN_PROCESS if provider == "extractive" else _LEAST_SECONDS_REMOTE
