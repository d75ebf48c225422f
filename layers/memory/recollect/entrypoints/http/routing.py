"""The table of routes: what each takes and gives, and which one a path means; ids in paths."""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import unquote

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.ids import id_fault
from recollect.entrypoints.http.messages import Call, Reply, Request
from recollect.entrypoints.http.models import DocumentModel, RequestModel
from recollect.entrypoints.http.problems import NO_ROUTE, WRONG_METHOD, Declined, read_as, reply_to

USER = "/v1/users/{user_id}"
_ENCODED = re.compile("[A-Za-z0-9_-]+")


def path_id(segment: str, loc: Sequence[str | int]) -> str:
    """The id that a segment of a path stands for, after the one percent-decoding that every server does.

    `~` and unpadded base64url of its UTF-8, or the id as it is. Raises InvalidInput (with `loc`) where that gives
    no valid id, or where the encoding is not the one that its id has.
    """
    value = _decoded(segment, loc) if segment.startswith("~") else segment
    fault = id_fault(value)
    if fault is not None:
        raise InvalidInput(fault, loc)
    return value


def path_segment(value: str) -> str:
    """The id as a client writes it in a path; the same rule as in the Python client."""
    if re.fullmatch("[A-Za-z0-9._-]+", value):
        return value
    return "~" + base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")


def _decoded(segment: str, loc: Sequence[str | int]) -> str:
    encoded = segment[1:]
    try:
        if not _ENCODED.fullmatch(encoded):
            raise ValueError("not the alphabet")
        raw = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4))
        if base64.urlsafe_b64encode(raw).decode().rstrip("=") != encoded:
            raise ValueError("another text of the same bytes")
        return raw.decode("utf-8")
    except (ValueError, binascii.Error) as error:
        raise InvalidInput("after ~ an id is unpadded base64url of its UTF-8", loc) from error


Handle = Callable[[App, Request], Reply]
Handler = TypeVar("Handler", bound=Callable[..., Reply])

COMMON_STATUSES = (400, 401, 403, 413, 422, 429, 503, 504)
READ_STATUSES = (401, 403, 422, 429, 503, 504)


BODY_BYTES = 5_000_000
ANSWER_BYTES = 6_000_000
"""Of a body as Lambda sends it (`dispatch.is_sent_within`): the whole answer is JSON of 6,291,456 bytes at most."""


@dataclass(frozen=True, slots=True)
class Wire:
    """In what form routes speak. `refusal` makes the answer of an error.

    With `encoded_ids` an id in a path is percent-encoded, slashes too, and any text; else it is one of ours
    (`path_id`). `body_bytes` and `answer_bytes` hold on a server of one's own; behind Lambda `stack_body_bytes`, and no
    larger answer than ours.
    """

    refusal: Callable[[Exception], Reply] = reply_to
    encoded_ids: bool = False
    body_bytes: int = BODY_BYTES
    answer_bytes: int = ANSWER_BYTES
    stack_body_bytes: int = BODY_BYTES


OURS = Wire()


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One operation. `path` has `{name}` for ids; `answer` is the model of a good answer, None where it has no body.

    Where the body is optional, none at all or null stands for an empty object. `takes_lines`: the body is NDJSON, which
    the route reads itself. `media` is the content type of a good answer.
    """

    method: str
    path: str
    operation: str
    summary: str
    handle: Handle
    answer: Any = None
    good: tuple[int, ...] = (200,)
    errors: tuple[int, ...] = ()
    body: type[RequestModel | DocumentModel] | None = None
    body_optional: bool = False
    takes_lines: bool = False
    query: type[RequestModel] | None = None
    media: str = "application/json"
    idempotent: bool = False
    needs_version: bool = False
    needs_credentials: bool = True
    admin: bool = False
    documented: bool = True
    wire: Wire = OURS

    @property
    def statuses(self) -> tuple[int, ...]:
        """All that it can answer."""
        return (*self.good, *self.errors)

    @property
    def template(self) -> str:
        """How logs, cursors and idempotency keys name it."""
        return f"{self.method} {self.path}"

    @property
    def names(self) -> list[str]:
        """The names of the ids in its path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


class Routes(list[Route]):
    """The routes of a resource, in the order in which their handlers stand.

    A handler takes the app and the request, and `body` and `query` by the models that it names for them; its name is
    the operation's, the first sentence of its docstring the summary.
    """

    def get(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declares the handler of GET on the path; for the options see `add`."""
        return self.add("GET", path, **options)

    def post(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declares the handler of POST on the path."""
        return self.add("POST", path, **options)

    def delete(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        """Declares the handler of DELETE on the path."""
        return self.add("DELETE", path, **options)

    def add(
        self, method: str, path: str, *, errors: Sequence[int] = (), **options: Any
    ) -> Callable[[Handler], Handler]:
        """Declares a handler. The options are those of `Route`; `errors` are beside those that every such route has."""

        def declare(handler: Handler) -> Handler:
            given = {"operation": _camel(handler.__name__), "summary": _first_sentence(handler), **options}
            for part in _parts(handler):
                given.setdefault(part, handler.__annotations__[part])
            every = (*errors, *_usual_statuses(given))
            self.append(Route(method=method, path=path, handle=_handle(handler), errors=every, **given))
            return handler

        return declare


def _parts(handler: Callable[..., Reply]) -> list[str]:
    return [part for part in ("body", "query") if part in handler.__annotations__]


def _handle(handler: Callable[..., Reply]) -> Handle:
    parts = _parts(handler)
    return lambda app, request: handler(app, request, **{part: getattr(request, part) for part in parts})


def _usual_statuses(given: dict[str, Any]) -> Sequence[int]:
    if not given.get("needs_credentials", True):
        return (422,)
    return COMMON_STATUSES if given.get("body") or given.get("takes_lines") else READ_STATUSES


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def _first_sentence(handler: Callable[..., Reply]) -> str:
    return (handler.__doc__ or "").partition("\n")[0].removesuffix(".")


def find_route(routes: Iterable[Route], call: Call) -> tuple[Route, dict[str, str]]:
    """The route and the segments of its ids, as they stand in the path. Raises Declined for none."""
    plain = call.path.split("/")
    encoded = plain if call.raw_path is None else [unquote(segment) for segment in call.raw_path.split("/")]
    found = ((route, _match(route, encoded if route.wire.encoded_ids else plain)) for route in routes)
    matching = [(route, segments) for route, segments in found if segments is not None]
    for route, segments in matching:
        if route.method == call.method:
            return route, segments
    if not matching:
        raise Declined(NO_ROUTE, "no route has this path")
    allowed = ", ".join(sorted({route.method for route, _ in matching}))
    raise Declined(WRONG_METHOD, f"this path knows {allowed}", {"Allow": allowed})


def path_ids(segments: dict[str, str]) -> dict[str, str]:
    """The ids of a path. Raises InvalidInput that names the first that is none."""
    return {name: path_id(segment, ("path", name)) for name, segment in segments.items()}


def query_of(pairs: Sequence[tuple[str, str]], model: type[RequestModel]) -> RequestModel:
    """The parameters of the query string. Raises InvalidInput for a repeated one, Refused for the rest."""
    given: dict[str, str] = {}
    for name, value in pairs:
        if name in given and name in {field.alias or name for name, field in model.model_fields.items()}:
            raise InvalidInput("is given twice", ("query", name))
        given[name] = value
    return read_as(model, given, "query")


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
