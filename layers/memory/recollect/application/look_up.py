"""The web search of one input: the rule's decision, and the search beside the reads (K-38 to K-42, K-76, K-83)."""

import threading
import time
from dataclasses import dataclass

from recollect.domain.rendering import one_line
from recollect.domain.rules import Rules
from recollect.domain.web_search import needs_web_search, web_search_keywords
from recollect.ports import WebSearch

SECONDS = 2.0
MOST_RESULTS = 5
LONGEST_RESULT = 1000
LONGEST_QUERY = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class LookedUp:
    """What the rule decided and by which words; why nothing was searched all the same (`skipped`); what came.

    `failed`: it was searched, and the search failed or was too slow; then there are no results.
    """

    triggered: bool
    keywords: tuple[str, ...] = ()
    skipped: str | None = None
    results: tuple[str, ...] = ()
    failed: bool = False

    @property
    def searched(self) -> bool:
        """Whether the text left the machine."""
        return self.triggered and self.skipped is None


class LookUp:
    """Decides, searches and waits. `wish` is auto (the rule decides), always or never."""

    def __init__(self, web_search: WebSearch | None, text: str, wish: str, seconds: float = SECONDS) -> None:
        self._web_search = web_search
        self._text = text
        self._wish = wish
        self._seconds = seconds
        self._decided = LookedUp(triggered=False)
        self._open: _Search | None = None

    def begin(self, rules: Rules) -> None:
        """Decides, and begins the search where there is a provider."""
        triggered = self._wish == "always" or (self._wish == "auto" and needs_web_search(self._text, rules))
        off = triggered and self._web_search is None
        keywords = web_search_keywords(self._text, rules)
        self._decided = LookedUp(triggered=triggered, keywords=keywords, skipped="off" if off else None)
        if triggered and self._web_search is not None:
            self._open = _Search(self._web_search, self._text, self._seconds)

    def result(self) -> LookedUp:
        """The decision, with the results that came before the search's time was over."""
        if self._open is None:
            return self._decided
        found = self._open.result()
        triggered, keywords = self._decided.triggered, self._decided.keywords
        return LookedUp(triggered=triggered, keywords=keywords, results=found or (), failed=found is None)


class _Search:
    """A search under way, on a thread of its own: a wave's threads must not wait for a stranger's server."""

    def __init__(self, web_search: WebSearch, text: str, seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        self._found: tuple[str, ...] | None = None
        arguments = (web_search, _line(text, LONGEST_QUERY), seconds)
        self._thread = threading.Thread(target=self._run, args=arguments, name="recollect-web-search", daemon=True)
        self._thread.start()

    def _run(self, web_search: WebSearch, query: str, seconds: float) -> None:
        try:
            self._found = _bounded(web_search.search(query, seconds))
        except Exception:  # noqa: BLE001 - whatever a stranger's server causes, the turn goes on without it (K-77)
            self._found = None

    def result(self) -> tuple[str, ...] | None:
        """The results; None where the search failed or its time, counted from its beginning, is over."""
        self._thread.join(max(0.0, self._deadline - time.monotonic()))
        return self._found


def _bounded(results: tuple[str, ...]) -> tuple[str, ...]:
    """The first few, each one line and not too long: it is a stranger who says how much comes."""
    lines = [_line(text, LONGEST_RESULT) for text in results]
    return tuple(line for line in lines if line)[:MOST_RESULTS]


def _line(text: str, longest: int) -> str:
    return one_line(text[:longest]).strip()
