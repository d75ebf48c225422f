"""How dates are said in many languages, as data: what today, last week and a month are called.

`date_words.json` is made of dateparser's tables (`make docs`), without words that are something else in another
language at least as often. Here stand forms that those tables lack: other cases of the noun, and shorter ones. English
relative phrases are read by `date_phrases` itself, since they take numbers.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

_KEPT: Mapping[str, Any] = json.loads(Path(__file__).with_name("date_words.json").read_text(encoding="utf-8"))
_BESIDES = {
    "last week": """
        letzter woche | vergangene woche | semana pasada | última semana | semaine dernière | semaine passée
        | scorsa settimana | прошлой неделе | прошлую неделю | прошлая неделя | 上週 | 上星期 | 지난 주
        | पिछले हफ्ते | पिछले सप्ताह
    """,
    "last month": """
        letzter monat | vergangenen monat | mes pasado | último mes | mois dernier | mois passé | scorso mese
        | прошлом месяце | прошлый месяц | 上個月 | 지난 달 | पिछले महीने
    """,
    "last year": """
        letzten jahr | vergangenes jahr | año pasado | año anterior | année dernière | an dernier | scorso anno
        | прошлом году | прошлый год | 지난해 | 지난 해 | 上一年
    """,
    "this week": "dieser woche | этой неделе | эту неделю | 本週 | 这周 | 這週 | 이번주 | इस हफ्ते",
    "this month": "diesem monat | ce mois | этом месяце | этот месяц | 这个月 | 這個月 | 이번달 | इस महीने",
    "this year": "diesem jahr | этом году | этот год | 本年 | 이번 해",
}


def _relative() -> Iterator[tuple[str, str]]:
    for meaning, phrases in _KEPT["relative"].items():
        yield from ((phrase, meaning) for phrase in phrases)
    for meaning, text in _BESIDES.items():
        yield from ((" ".join(phrase.split()), meaning) for phrase in text.split("|"))


RELATIVE_PHRASES: Mapping[str, str] = MappingProxyType(dict(_relative()))
"""Phrases as `phrases.fold` leaves them, each with the English one that means the same."""

MONTHS: Mapping[str, int] = MappingProxyType(
    {name: number for number, names in enumerate(_KEPT["months"], start=1) for name in names}
)
"""Names of months as `phrases.fold` leaves them, and which of the twelve they are."""
