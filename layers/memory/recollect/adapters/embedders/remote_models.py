"""What the embedders behind a network have in common: their generation's name, and what they may answer."""

import re
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike

from recollect.core.errors import InvalidInput, UpstreamFailed
from recollect.core.vectors import Encoding, unit, vector_of

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9.-]+")
_LONGEST_NAME = 60


def generation_name(model: str, dimension: int) -> str:
    """A generation, [a-z0-9.-]+, of a model's name and dimension; two names never share one.

    What the alphabet or the length (60) cannot carry is told apart by a digest of the whole name.
    """
    plain = _NOT_IN_A_NAME.sub("-", model.lower())[:_LONGEST_NAME].strip("-.")
    digest = blake2b(model.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{plain}.{dimension}" if plain == model else f"{plain or 'model'}.{digest}.{dimension}"


def encoding_of(values: ArrayLike, dimension: int) -> Encoding:
    """A model's numbers as a unit vector. Raises UpstreamFailed for another dimension, no numbers, NaN, all zeros."""
    try:
        vector = vector_of(values, dimension)
    except InvalidInput as error:
        raise UpstreamFailed(f"the embedding model answered no usable vector: {error}") from error
    if not np.any(vector):
        raise UpstreamFailed("the embedding model answered a vector of zeros")
    return Encoding(unit(vector), None)


def sendable(text: str, longest_characters: int) -> str:
    """The text as such a model accepts it: cut, no half surrogate pairs, and never empty."""
    cut = text[:longest_characters].encode("utf-8", "replace").decode("utf-8")
    return cut if cut.strip() else "."
