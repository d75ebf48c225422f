"""What would it say? A question, the context that a model would get, each line's reason, and what nearly came in."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.context.formats import MessageFormat
from recollect.entrypoints.console.api import Refusal
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply
from recollect.retrieval.reasons import SIGNALS

views = Views()
FORMATS = ("prompt", *MessageFormat)
_DIGITS = 3


@views.get("users", "{user_id}", "ask")
def ask(visit: Visit) -> Reply:
    """The context as of now, or as of another moment; nothing is stored."""
    shown = visit.query.get("format", FORMATS[0])
    answer: Any = None
    problems: list[str] = []
    if "q" in visit.query:
        try:
            answer = _asked(visit, shown)
        except Refusal as refused:
            if refused.status != 422:
                raise
            problems = refused.sentences
    values: dict[str, Any] = {"answer": answer, "problems": problems, "numbers": numbers_of}
    return visit.fitted("ask.html", 422 if problems else 200, shown=shown, formats=FORMATS, signals=SIGNALS, **values)


def _asked(visit: Visit, shown: str) -> Any:
    asked = {"user_id": visit.ids["user_id"], "input": visit.query["q"], "explain": True, "web_search": "never"}
    form = {} if shown == FORMATS[0] else {"format": shown}
    return visit.api.post("/v1/context", {**asked, **_moments(visit.query), **form})


def _moments(query: Mapping[str, str]) -> dict[str, str]:
    """The moments that were chosen, in UTC: a browser's field has minutes and no zone."""
    return {name: f"{query[name]}Z" for name in ("as_of", "recorded_as_of") if name in query}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Of a line the signals that make its score, each with its value and its share, the greatest first, and others."""

    adding: list[tuple[str, float, float]]
    beside: list[tuple[str, float]]


def numbers_of(why: Mapping[str, Any]) -> Numbers:
    """Those that are not nothing."""
    shares = {name: share for name, share in why["shares"].items() if round(share, _DIGITS)}
    adding = [(name, why["signals"].get(name, 0.0), share) for name, share in shares.items()]
    beside = [(name, value) for name, value in why["signals"].items() if round(value, _DIGITS) and name not in shares]
    return Numbers(sorted(adding, key=lambda one: -one[2]), beside)
