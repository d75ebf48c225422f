"""Which index, and what it is made of: `index_mapping.json` completed for one embedder's generation."""

import hashlib
import json
import re
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from recollect.domain.index_state import NO_GENERATION

MAPPING_FILE = "index_mapping.json"
_UNSAFE = re.compile(r"[^a-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlan:
    """An index for the vectors of one embedder generation, which never meet another's.

    `generation` None (with `dimension` 0) is the index of a deployment without an embedder: it has no vectors.
    `shards` and `refresh_seconds` (how soon searches show a write) hold when the index is created.
    """

    prefix: str = "recollect"
    generation: str | None = None
    dimension: int = 0
    shards: int = 1
    refresh_seconds: float = 1.0

    @property
    def has_vectors(self) -> bool:
        """Whether the index holds vectors at all."""
        return self.generation is not None and self.dimension > 0

    @property
    def alias(self) -> str:
        """What requests name. Writes demand that it is an alias, so that none ever creates an index by itself."""
        return f"{self.prefix}-{_safe(self.generation_name)}"

    @property
    def generation_name(self) -> str:
        """The generation's, or `none`."""
        return self.generation if self.generation is not None and self.has_vectors else NO_GENERATION

    def of(self, generation: str) -> "IndexPlan":
        """The plan of another generation's index, to speak to it; what it takes to create one is not known here."""
        named = None if generation == NO_GENERATION else generation
        return replace(self, generation=named, dimension=0 if named is None else max(1, self.dimension))

    @property
    def index(self) -> str:
        """The index behind the alias, with the version of its mapping."""
        return f"{self.alias}-v{mapping_format()}"

    def body(self) -> dict[str, Any]:
        """What creates the index, alias included."""
        body = read_mapping()
        body["settings"]["index"]["number_of_shards"] = self.shards
        body["settings"]["index"]["refresh_interval"] = f"{round(self.refresh_seconds * 1000)}ms"
        properties = body["mappings"]["properties"]
        if self.has_vectors:
            properties["vector"]["dimension"] = self.dimension
        else:
            del properties["vector"]
        return {**body, "aliases": {self.alias: {}}}


def read_mapping() -> dict[str, Any]:
    """Settings and mappings as the file has them: without the vectors' dimension."""
    text = resources.files(__package__).joinpath(MAPPING_FILE).read_text("utf-8")
    mapping: dict[str, Any] = json.loads(text)
    return mapping


def mapping_format() -> int:
    """The version of the mapping, kept in its `_meta`."""
    number: int = read_mapping()["mappings"]["_meta"]["format"]
    return number


def _safe(generation: str) -> str:
    """A name that an index may have; a hash tells apart what was written alike."""
    safe = _UNSAFE.sub("-", generation.lower())[:100]
    return safe if safe == generation else f"{safe}-{hashlib.sha256(generation.encode()).hexdigest()[:8]}"
