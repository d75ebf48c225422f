"""Statements for tests of arbitration and merging."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
from hypothesis import strategies as st

from recollect.arbitration.detection import Statement
from recollect.core.event import Source

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def statement(statement_id: str = "candidate", **changes: Any) -> Statement:
    """A statement of Anna's, with these fields changed; `embedding` may be a list of numbers."""
    fields: dict[str, Any] = {
        "id": statement_id,
        "user_id": "anna",
        "content": "I live in Paris",
        "importance": 0.5,
        "timestamp": NOON,
    }
    fields |= changes
    if isinstance(fields.get("embedding"), list):
        fields["embedding"] = np.array(fields["embedding"], dtype=np.float64)
    return Statement(**fields)


WORDS = st.sampled_from(["Paris", "Lyon", "tea", "lives", "likes", "Anna", "2.5", "kg", "Node.js", "我"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
CONTENTS = st.lists(
    st.tuples(SENTENCES, st.sampled_from([". ", "! ", "?\n", "\n", "。"])).map("".join), min_size=1, max_size=6
).map("".join)


def statements(statement_id: str) -> st.SearchStrategy[Statement]:
    """Any statement of that id."""
    return st.builds(
        statement,
        st.just(statement_id),
        content=CONTENTS,
        importance=st.floats(0, 1),
        timestamp=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),
        source=st.none() | st.sampled_from([*Source, "rumour"]),
        keywords=st.lists(WORDS, max_size=4).map(tuple),
        embedding=st.none() | st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    )
