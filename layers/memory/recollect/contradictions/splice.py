"""The exact partial change: one value of a sort that stands in both statements, and differs (P-24).

"Rent is 850, all in" and "it went up to 920": the older statement with the new value in its place. Only digits are
read, so that it is the same in every language; whatever is less than certain is no splice.
"""

import re

_CLOCK = r"\d{1,2}[:.h]\d{2}(?!\d)|\d{1,2} ?(?:am|pm)\b"
_DATE = r"\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}"
_MONEY = r"[$€£¥₹₩]\s?\d[\d.,]*|\d[\d.,]*\s?[$€£¥₹₩元円원]"
_SHARE = r"\d+(?:[.,]\d+)?\s?%"
_MEASURE = r"\d+(?:[.,]\d+)?\s?(?:mg|kg|km|ml|cm|g|m|l|h)\b"
_NUMBER = r"\d+(?:[.,]\d{3})*(?:[.,]\d+)?"
_VALUE = re.compile(
    rf"(?<![A-Za-z\d.,])(?:(?P<date>{_DATE})|(?P<clock>{_CLOCK})|(?P<money>{_MONEY})|(?P<share>{_SHARE})"
    rf"|(?P<measure>{_MEASURE})|(?P<number>{_NUMBER}))(?![A-Za-z\d])",
    re.IGNORECASE,
)


def spliced(older: str, newer: str) -> str | None:
    """The older statement with its one value replaced by the newer's of the same sort; None where that is unsure."""
    olds, news = _values(older), _values(newer)
    sorts = [sort for sort in olds if sort in news and olds.keys() | news.keys() <= {sort}]
    if len(sorts) != 1 or len(olds[sorts[0]]) != 1 or len(news[sorts[0]]) != 1:
        return None
    (old,), (new,) = olds[sorts[0]], news[sorts[0]]
    if old.group() == new.group() or _unit(old.group()) != _unit(new.group()):
        return None
    return older[: old.start()] + new.group() + older[old.end() :]


def _values(text: str) -> dict[str, list[re.Match[str]]]:
    found: dict[str, list[re.Match[str]]] = {}
    for match in _VALUE.finditer(text):
        found.setdefault(str(match.lastgroup), []).append(match)
    return found


def _unit(value: str) -> str:
    return re.sub(r"[\d.,:\s]", "", value).lower()
