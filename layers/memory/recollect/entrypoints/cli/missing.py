"""What a person is told where a part did not answer, and what mends it."""

from collections.abc import Sequence

from recollect.app import App
from recollect.entrypoints.cli.console import say
from recollect.entrypoints.cli.opening import WORDS_ALONE
from recollect.timeline.timeline import TAIL_EVENTS

MADE_ANEW = "`recollect jobs run reindex` makes it anew, and `recollect serve` does so by itself"
INDEXED_BY = "`recollect jobs run reconcile` makes what is missing, and `recollect serve` does so by itself"
OTHER_VECTORS = f"the index is another embedding model's, so {WORDS_ALONE}: {MADE_ANEW}"


def warn_of_missing(missing: Sequence[str], *, by_words: bool = False) -> None:
    """One line on standard error; none where all answered. `by_words`: no vector was compared."""
    if "vectors" in missing:
        say(OTHER_VECTORS)
    elif by_words or "embedder" in missing:
        say(f"no embedding model: {WORDS_ALONE}; `recollect init` builds it, `recollect doctor` says more")
    elif missing:
        say(f"did not answer: {', '.join(missing)}; `recollect doctor` says more")


def warn_of_pending(pending: int, *, cut: bool) -> None:
    """One line where more wait to be projected than a search makes vectors for itself (`SearchDiagnostics`)."""
    if not cut:
        return
    if pending > TAIL_EVENTS:  # this store counts them all, and shows their words since they were stored
        say(f"{pending:,} events still wait for their vector; words find them already: {INDEXED_BY}")
    else:
        say(f"more than {TAIL_EVENTS} events wait to be indexed; of those, search sees the newest {TAIL_EVENTS}")


def warn_of_other_vectors(app: App, tenant: str) -> None:
    """Where the embedder that is set is not the one that the tenant's index was made with."""
    if app.parts.embedder is not None and not app.search_index.in_use.holds_vectors(tenant):
        say(OTHER_VECTORS)
