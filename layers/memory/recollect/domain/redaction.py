"""How a log tells of a text without saying it: by its length and a keyed hash (P-18)."""

import hashlib
import hmac
from dataclasses import dataclass
from typing import Any, TypeAlias

from recollect.domain.analysis import QueryAnalysis
from recollect.domain.entities import Entity

Told: TypeAlias = "str | dict[str, int | str]"
_HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Redaction:
    """`content`: texts are told as they are, because a tenant's rules say so. Equal texts under one key hash alike."""

    key: bytes
    content: bool = False

    def text(self, text: str) -> Told:
        """The text, or its length in characters and its hash."""
        if self.content:
            return text
        digest = hmac.new(self.key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
        return {"length": len(text), "hash": digest[:_HASH_DIGITS]}

    def analysis(self, analysis: QueryAnalysis) -> dict[str, Any]:
        """The fields of R-99 that the analysis holds."""
        return {
            "originalQuery": self.text(analysis.original_query),
            "keywords": [self.text(keyword) for keyword in analysis.keywords],
            "keywordCount": len(analysis.keywords),
            "entities": [self._entity(entity) for entity in analysis.entities],
            "intent": analysis.intent.value,
            "intentConfidence": analysis.intent_confidence,
        }

    def _entity(self, entity: Entity) -> dict[str, Any]:
        told = {"value": self.text(entity.value), "normalized": self.text(entity.normalized)}
        return {"type": entity.type.value, **told}
