"""DuckDuckGo's instant answers (K-81): the only web search there is, and off unless it is set."""

import json
from typing import Any
from urllib.parse import urlencode

from recollect.adapters.http_connection import HttpConnection, HttpService
from recollect.context.extractive_answer import texts_of
from recollect.core.errors import UpstreamFailed

DUCKDUCKGO = "https://api.duckduckgo.com"
_OPTIONS = {"format": "json", "no_html": "1", "skip_disambig": "1"}
_LONGEST_QUERY = 400
_LONGEST_SECONDS = 2.0
_LARGEST_ANSWER_BYTES = 1_000_000


class DuckDuckGo:
    """One GET a search, for two seconds at most. Follows no redirect: the query goes to this host and no other."""

    def __init__(self, url: str = DUCKDUCKGO) -> None:
        """`url` is asked as it is, with the query's fields behind it."""
        self._separator = "&" if "?" in url else "?"
        self._connection = HttpConnection(
            HttpService(name="web search", base_url=url, largest_answer_bytes=_LARGEST_ANSWER_BYTES)
        )

    def search(self, query: str, seconds: float) -> tuple[str, ...]:
        """The abstract, else up to three related topics (K-82); of the query, its first 400 characters count.

        Raises Throttled, Unavailable, OutOfTime and UpstreamFailed.
        """
        asked = " ".join(query[:_LONGEST_QUERY].encode("utf-8", "ignore").decode().split())
        if not asked:
            return ()
        fields = urlencode({"q": asked, **_OPTIONS})
        answer = self._connection.get(f"{self._separator}{fields}", min(seconds, _LONGEST_SECONDS))
        return texts_of(_parsed(answer.content))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise UpstreamFailed("web search answered something else than JSON") from None
