"""A tenant's own cue rules, as the rules file holds them: laid over those of the package by section and name (P-24)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.rules.values import Place, is_object


@dataclass(frozen=True, slots=True)
class CueOverlay:
    """Sections of `english_cues.json`: each name in it replaces or adds one, null disables it."""

    @property
    def bounds(self) -> str:
        """What it may be."""
        return "sections of the cue rules, each an object of names"

    def read(self, value: Any, before: Any, place: Place) -> Any:
        """The overlay over the one before; that one where a part is wrong, which is then reported."""
        if not is_object(value, place):
            return before
        merged = {section: dict(names) for section, names in before.items()}
        for section, names in value.items():
            merged[section] = {**merged.get(section, {}), **names} if isinstance(names, Mapping) else names
        return merged if _holds(merged, place) else before


def _holds(overlay: Mapping[str, Any], place: Place) -> bool:
    # Imported here: a function that reads no text need not load the reader of cues.
    from recollect.domain.cue_rules import cue_rules_of

    try:
        cue_rules_of(overlay)
    except InvalidInput as error:
        for step in error.loc[1:]:
            place = place.inside(step)
        place.refuse(str(error))
        return False
    return True
