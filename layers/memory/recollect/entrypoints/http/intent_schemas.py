"""JSON schemas of what a search by intent answers besides results."""

from recollect.entrypoints.http.schema_pieces import COUNT, NUMBER, SHARE, TEXT, TEXTS, many, shape, words
from recollect.intent.analysis import EntityType, IntentName

ENTITIES = many(shape({"type": words(*EntityType), "value": TEXT, "normalized": TEXT}))
QUERY_ANALYSIS = shape(
    {"keywords": TEXTS, "entities": ENTITIES, "intent": words(*IntentName), "intent_confidence": SHARE},
    {"context": shape({"messages": COUNT, "keywords": TEXTS})},
)
RETRIEVAL_STATS = shape(
    {
        "records_considered": COUNT,
        "records_matched": COUNT,
        "records_included": COUNT,
        "records_excluded_privacy": COUNT,
        "records_excluded_threshold": COUNT,
        "retrieval_time_ms": NUMBER,
        "tokens": COUNT,
        "date_based_records": COUNT,
        "date_based_tokens": COUNT,
        "token_savings": NUMBER,
    }
)
