"""Vectors that a client gives: how long they must be, and what is stored of them."""

from recollect.settings import Settings

_DEFAULT_DIMENSION = 384
_CONFIGURED = ("openai", "bedrock", "onnx")


def embedding_dimension(settings: Settings) -> int:
    """The length of this deployment's vectors, known without loading the model."""
    return settings.embedding_dimension if settings.embedder in _CONFIGURED else _DEFAULT_DIMENSION


def packed(values: list[float] | None, dimension: int, loc: tuple[str, ...]) -> bytes | None:
    """The vector as it is stored. Raises InvalidInput (with `loc`) for another length."""
    if values is None:
        return None
    from recollect.domain.embedding import pack_vector, vector_of  # numpy comes with it

    return pack_vector(vector_of(values, dimension, loc))
