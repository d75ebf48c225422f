"""What a query names: dates, measurements, categories, spaces (R-11, R-19 to R-22)."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.domain.date_phrases import named_dates
from recollect.domain.phrases import fold, whole_word_positions

KNOWN_CATEGORIES = ("blood pressure", "medication")
_UNITS = (
    "mmol/l|mg/dl|g/dl|mmhg|bpm|kcal|cal|kj|kwh|kg|mcg|µg|μg|mg|g|lbs?|oz|km/h|mph|km|cm|mm|mi|miles?|m|ft|ml|dl|l"
    "|°c|°f|hours?|minutes?|min|steps|%"
)
_MEASUREMENT = re.compile(
    r"(?<![\w./,-])(?:(?P<ratio>[0-9]{2,3}/[0-9]{2,3})(?![\w/])"
    rf"|(?P<number>[0-9]{{1,9}}(?:[.,][0-9]{{1,9}})?)\s?(?P<unit>{_UNITS})(?![\w/]))",
    re.IGNORECASE,
)


class EntityType(StrEnum):
    """The types of R-11, spelt as the document spells them."""

    DATE = "date"
    MEASUREMENT = "measurement"
    CATEGORY = "category"
    SPACE_NAME = "spaceName"


@dataclass(frozen=True, slots=True)
class Entity:
    """`value` as the query has it; `normalized` as it is compared.

    A date's `normalized` is a range `from/to` of ISO times in UTC, both inclusive; a measurement's is in lower case
    with one space before the unit; a category's is without case; a space's is the known space's own name.
    """

    type: EntityType
    value: str
    normalized: str


def extract_entities(text: str, spaces: Iterable[str], categories: Iterable[str], now: datetime) -> tuple[Entity, ...]:
    """The entities of a query, each once: dates, measurements, categories, spaces, each kind in the text's order.

    `now` carries a zone and is what "yesterday" is counted from. Raises nothing on any text.
    """
    known = [fold(category) for category in (*categories, *KNOWN_CATEGORIES)]
    return tuple(
        dict.fromkeys(
            (
                *(Entity(EntityType.DATE, found.text, str(found.range)) for found in named_dates(text, now)),
                *_measurements(text),
                *_known_names(text, known, EntityType.CATEGORY),
                *_known_names(text, spaces, EntityType.SPACE_NAME),
            )
        )
    )


def _measurements(text: str) -> Iterator[Entity]:
    for match in _MEASUREMENT.finditer(text):
        normalized = match["ratio"] or f"{match['number'].replace(',', '.')} {match['unit'].lower()}"
        yield Entity(EntityType.MEASUREMENT, match.group(), normalized)


def _known_names(text: str, names: Iterable[str], entity_type: EntityType) -> list[Entity]:
    """Known names as whole words; a longer name hides a shorter one inside it (R-21, R-22)."""
    folded = fold(text)
    spelt = _by_folded(names)
    hidden = bytearray(len(folded))
    found: list[tuple[int, Entity]] = []
    for name in sorted(spelt, key=lambda name: (-len(name), name)):
        start = _first_visible(folded, name, hidden)
        if start is not None:
            value = text[start : start + len(name)] if len(folded) == len(text) else spelt[name][0]
            found += [(start, Entity(entity_type, value, known)) for known in spelt[name]]
    return [entity for _, entity in sorted(found, key=lambda pair: pair[0])]


def _by_folded(names: Iterable[str]) -> dict[str, list[str]]:
    """Names by what they are compared as: two spaces may differ in case alone, and a mention means both."""
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault(fold(name), []).append(name)
    return spelt


def _first_visible(folded: str, name: str, hidden: bytearray) -> int | None:
    """Where the name first stands outside longer names; hides all the places where it stands."""
    size = len(name)
    visible = [at for at in whole_word_positions(folded, name) if 1 not in hidden[at : at + size]]
    for start in visible:
        hidden[start : start + size] = b"\x01" * size
    return visible[0] if visible else None
