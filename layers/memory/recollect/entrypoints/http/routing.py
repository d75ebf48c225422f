"""The table of routes: what each takes and gives, and which one a path means."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.entrypoints.http.fields import Shape
from recollect.entrypoints.http.ids import path_id
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.problems import NO_ROUTE, WRONG_METHOD, Declined

Handle = Callable[[App, Request], Reply]

COMMON_STATUSES = (400, 401, 403, 413, 422, 429, 503, 504)
READ_STATUSES = (401, 403, 422, 429, 503, 504)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One operation. `path` has `{name}` for ids; `answer` names a schema in `schemas.ANSWERS`.

    `statuses` are those that it can answer besides those in `COMMON_STATUSES` (with a body) or `READ_STATUSES`. Where
    the body is optional, none at all stands for an empty object. `takes_lines`: the body is NDJSON, which the route
    reads itself.
    """

    method: str
    path: str
    operation: str
    summary: str
    handle: Handle
    answer: str
    statuses: tuple[int, ...] = (200,)
    body: Shape | None = None
    body_optional: bool = False
    takes_lines: bool = False
    query: Shape | None = None
    idempotent: bool = False
    needs_version: bool = False
    needs_credentials: bool = True
    admin: bool = False
    documented: bool = True

    @property
    def template(self) -> str:
        """How logs, cursors and idempotency keys name it."""
        return f"{self.method} {self.path}"

    @property
    def names(self) -> list[str]:
        """The names of the ids in its path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def find_route(routes: Iterable[Route], method: str, path: str) -> tuple[Route, dict[str, str]]:
    """The route and the segments of its ids, as they stand in the path. Raises Declined for none."""
    segments = path.split("/")
    matching = [(route, found) for route in routes if (found := _match(route, segments)) is not None]
    for route, found in matching:
        if route.method == method:
            return route, found
    if not matching:
        raise Declined(NO_ROUTE, "no route has this path")
    allowed = ", ".join(sorted({route.method for route, _ in matching}))
    raise Declined(WRONG_METHOD, f"this path knows {allowed}", {"Allow": allowed})


def path_ids(segments: dict[str, str]) -> dict[str, str]:
    """The ids of a path. Raises InvalidInput that names the first that is none."""
    return {name: path_id(segment, ("path", name)) for name, segment in segments.items()}


def query_values(pairs: Sequence[tuple[str, str]], shape: Shape) -> dict[str, object]:
    """The parameters of the query string. Raises InvalidInput for a repeated one, Refused for the rest."""
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given and name in shape.fields:
            raise InvalidInput("is given twice", ("query", name))
        given[name] = value
    return shape.read(given)


def _match(route: Route, segments: Sequence[str]) -> dict[str, str] | None:
    parts = route.path.split("/")
    if len(parts) != len(segments):
        return None
    found: dict[str, str] = {}
    for part, segment in zip(parts, segments, strict=True):
        if part.startswith("{"):
            found[part[1:-1]] = segment
        if part != segment and not (part.startswith("{") and segment):
            return None
    return found
