"""What leaves the store and comes back: exports and imports of a user, snapshots of a tenant."""

from recollect.entrypoints.http.archiving import export_page, import_page, list_snapshots
from recollect.entrypoints.http.fields import Shape, identifier, in_query, text, whole
from recollect.entrypoints.http.routing import COMMON_STATUSES, READ_STATUSES, Route

_USER = "/v1/users/{user_id}"
EXPORT_QUERY = Shape(
    "ExportQuery",
    {"persona_id": identifier(), "household_id": identifier(), "cursor": text(max_bytes=4096)},
)
SNAPSHOTS_QUERY = Shape(
    "SnapshotsQuery", {"limit": in_query(whole(1, 200, default=50)), "cursor": text(max_bytes=4096)}
)
ROUTES = (
    Route(
        method="GET",
        path=f"{_USER}/export",
        operation="exportUser",
        summary="A page of a user's records as NDJSON; `Link` names the next one",
        handle=export_page,
        query=EXPORT_QUERY,
        answer="Lines",
        statuses=(200, *READ_STATUSES),
    ),
    Route(
        method="POST",
        path=f"{_USER}/import",
        operation="importUser",
        summary="Stores a page of an export; what was deleted is refused",
        handle=import_page,
        takes_lines=True,
        answer="ImportAnswer",
        statuses=(200, 409, *COMMON_STATUSES),
        idempotent=True,
    ),
    Route(
        method="GET",
        path="/v1/snapshots",
        operation="listSnapshots",
        summary="The tenant's snapshots, the newest first",
        handle=list_snapshots,
        query=SNAPSHOTS_QUERY,
        answer="SnapshotsPage",
        statuses=(200, *READ_STATUSES),
        admin=True,
    ),
)
