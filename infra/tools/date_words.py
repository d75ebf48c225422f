"""The words for dates in many languages, taken from dateparser's tables: text/date_words.json (R-19).

dateparser has them of the Unicode locale data, with what people write besides, and keeps them. Only its tables are
used, when the file is made: a search wants a window of time where dateparser gives a point, and nobody tells it the
language (docs/dependencies.md).
"""

import json
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any

from recollect.text.phrases import fold

FILE = "layers/memory/recollect/text/date_words.json"
LANGUAGES = [
    "ar", "az", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fil", "fr", "ga",
    "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "ko", "lt", "lv", "mr", "ms",
    "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "sw", "ta", "te", "th", "tr", "uk", "ur", "uz",
    "vi", "zh",
]  # fmt: skip

_MEANINGS = {
    "today": "0 day ago",
    "yesterday": "1 day ago",
    "day before yesterday": "2 day ago",
    "this week": "0 week ago",
    "last week": "1 week ago",
    "this month": "0 month ago",
    "last month": "1 month ago",
    "this year": "0 year ago",
    "last year": "1 year ago",
}
_COMING = {"next week": "in 1 week", "next month": "in 1 month", "next year": "in 1 year"}
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip

# Something else in another language at least as often, or not the one day alone: Hindi's yesterday is its tomorrow.
_SOMETHING_ELSE = frozenset(
    (
        "ahir",
        "eile",
        "gaur",
        "hier",
        "hui",
        "iaz",
        "inné",
        "jana",
        "lani",
        "leo",
        "ma",
        "onte",
        "geçen gün",
        "ta mes",
        "ta ted",
        "कल",
        "काल",
        "परसों",
        "बीता कल",
        "اليوم السابق",
    )
)
# In letters of these scripts a last word so short is an abbreviation ("last mo"), but for these words.
_ALPHABETS = re.compile(r"[a-z\u00df-\u024f\u0370-\u04ff]+")
_SHORT_NOUNS = frozenset(("ay", "oy", "il", "ай", "kk", "én", "év", "år", "ár"))
# "Until", before the day and behind it. English ones are read in contradictions/bounds.py, "til" alone is mostly "to".
_UNTIL_BEFORE = (
    "bis", "hasta", "jusqu'à", "jusqu'au", "jusqu'en", "jusqu'aux", "d'ici", "d'ici à", "d'ici au", "fino a", "fino al",
    "fino all'", "fino alla", "fino ad", "sino a", "sino al", "fins a", "fins al", "até", "tot", "tot en met", "t/m",
    "til og med", "t.o.m.", "till och med", "fram till", "fram til", "frem til", "indtil", "inntil", "până", "pînă",
    "до", "do", "až do", "aż do", "sampai", "hingga", "đến", "حتى", "עד", "έως", "μέχρι", "ως", "到", "直到", "至",
)  # fmt: skip
_UNTIL_BEHIND = ("まで", "迄", "까지", "为止", "為止", "kadar", "dek", "asti", "saakka", "तक")
# The cases in which weekdays stand beside some of them, Monday first; "do" is "until" before these alone.
_UNTIL_CASES = {
    "до": "понедельника вторника среды четверга пятницы субботы воскресенья"
    " | понеділка вівторка середи четверга п'ятниці суботи неділі",
    "do": "poniedziałku wtorku środy czwartku piątku soboty niedzieli"
    " | pondělí úterý středy čtvrtka pátku soboty neděle"
    " | pondelka utorka stredy štvrtka piatka soboty nedele"
    " | ponedjeljka utorka srijede četvrtka petka subote nedjelje"
    " | ponedeljka torka srede četrtka petka sobote nedelje",
    "kadar": "pazartesiye salıya çarşambaya perşembeye cumaya cumartesiye pazara",
    "asti": "maanantaihin tiistaihin keskiviikkoon torstaihin perjantaihin lauantaihin sunnuntaihin",
}
_SAME_CASES = {"až do": "do", "aż do": "do", "dek": "kadar", "saakka": "asti"}
_THE_END_OF = (
    "ende", "fin", "fin de", "fines de", "finales de", "final de", "finals de", "la fin", "la fin de", "fine",
    "la fine di", "fim de", "o fim de", "o final de", "eind", "einde", "slutet av", "slutten av", "udgangen af",
    "konce", "końca", "конца", "кінця", "akhir",
)  # fmt: skip
_LEAST_LETTERS = 3
_LEAST_OF_A_WEEKDAY = 5
_OF = re.compile(r"(?:de |d')")
_NUMBERED = re.compile(r"\d|^[ivx]+$")


def date_words_file() -> str:
    """The file's text: for each meaning its phrases, for each month and weekday its names, all folded and in order."""
    tables = [_table(language) for language in LANGUAGES]
    made = {
        "from": f"dateparser {version('dateparser')}",
        "languages": LANGUAGES,
        "relative": _by_meaning(tables, _MEANINGS, english=False),
        "coming": _by_meaning(tables, _COMING, english=True),
        "months": [sorted(names) for names in _unambiguous([_names_of(tables, month) for month in _MONTHS])],
        "weekdays": [sorted(names) for names in _unambiguous([_long_names_of(tables, day) for day in _WEEKDAYS])],
        "until": {
            "before": sorted(_UNTIL_BEFORE),
            "behind": sorted(_UNTIL_BEHIND),
            "weekdays": {word: _cases(_SAME_CASES.get(word, word)) for word in (*_UNTIL_CASES, *_SAME_CASES)},
            "the end of": sorted(_THE_END_OF),
        },
    }
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _cases(word: str) -> list[list[str]]:
    """For each weekday its names after that word, folded and in order."""
    languages = [language.split() for language in _UNTIL_CASES[word].split("|")]
    return [sorted({fold(name) for name in names}) for names in zip(*languages, strict=True)]


def _by_meaning(tables: list[Mapping[str, Any]], meanings: Mapping[str, str], *, english: bool) -> dict[str, list[str]]:
    """English ones of the past are read by `text.dates` itself, since they take numbers."""
    told = [table for table in tables if english or table["name"] != "en"]
    return {name: sorted({p for table in told for p in _phrases(table, meaning)}) for name, meaning in meanings.items()}


def _table(language: str) -> Mapping[str, Any]:
    table: Mapping[str, Any] = import_module(f"dateparser.data.date_translation_data.{language}").info
    return table


def _phrases(table: Mapping[str, Any], meaning: str) -> Iterator[str]:
    for phrase in table["relative-type"].get(meaning, ()):
        folded = fold(phrase)
        if folded not in _SOMETHING_ELSE and not _is_short(folded):
            yield folded


def _is_short(phrase: str) -> bool:
    last = phrase.split()[-1]
    return _ALPHABETS.fullmatch(last) is not None and len(last) < _LEAST_LETTERS and last not in _SHORT_NOUNS


def _names_of(tables: list[Mapping[str, Any]], month: str) -> set[str]:
    names = {_OF.sub("", fold(name)) for table in tables for name in table.get(month, ())}
    return {name for name in names if " " not in name and not _NUMBERED.search(name) and not _is_short(name)}


def _long_names_of(tables: list[Mapping[str, Any]], day: str) -> set[str]:
    """Without what is shortened: "mar" is a month, a sea and two weekdays, 月 is the moon and every month."""
    names = {name for name in _names_of(tables, day) if name.isalpha() or "-" in name}
    return {name for name in names if len(name) >= (_LEAST_OF_A_WEEKDAY if _ALPHABETS.fullmatch(name[-1]) else 2)}


def _unambiguous(months: list[set[str]]) -> Iterator[set[str]]:
    """Without what is another month in another language: Croatia's listopad is October, Poland's November."""
    for names in months:
        others = set[str]().union(*(other for other in months if other is not names))
        yield names - others
