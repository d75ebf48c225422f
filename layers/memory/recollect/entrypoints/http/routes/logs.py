"""`…/conversations/{conversation_id}/log`: what an application keeps of a conversation, exact and in order.

Nothing is derived from it: no memory, no summary, no contradiction, no search result.
"""

import base64
import binascii
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from recollect.app import App
from recollect.core.errors import Forbidden
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import Listing, listing_of, open_cursor, page_reply, seal, start_of
from recollect.entrypoints.http.headers import Answer, Attempt, idempotent
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import (
    IN_QUERY,
    AnswerModel,
    Count,
    Cursor,
    Identifier,
    Maybe,
    OneOf,
    Paged,
    Read,
    RequestModel,
    Time,
    check_depth,
    fault,
    page_of,
    within_page,
)
from recollect.entrypoints.http.problems import located
from recollect.entrypoints.http.routing import USER, Routes
from recollect.session_log.entries import MOST_ENTRIES, Draft, Entry, Role
from recollect.session_log.use_cases import LogPage, Place

_LOG = f"{USER}/conversations/{{conversation_id}}/log"
_DEPTH = 64


def _payload(value: Any) -> Any:
    check_depth(value, _DEPTH)
    return value


def _blob(value: Any) -> str:
    try:
        base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise fault("must be base64") from None
    return str(value)


class DraftBody(RequestModel, title="LogDraft"):
    """`payload` or `blob`."""

    cleared_by_null = frozenset({"payload"})

    payload: Annotated[Any, Read(_payload, {})] = Field(None, description="Any JSON of at most 256 KiB.")
    blob: Maybe[Annotated[str, Read(_blob, {"type": "string", "contentEncoding": "base64"})]] = Field(
        None, description="Bytes, in base64."
    )
    role: Maybe[Annotated[Role, OneOf(*Role)]] = None
    entry_key: Maybe[Identifier] = Field(
        None, description="An entry of the same key that is there already is not appended again."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len({"payload", "blob"} & self.model_fields_set) != 1:
            raise fault("must have a payload or a blob")
        return self


class AppendBody(RequestModel, title="LogAppend"):
    entries: Annotated[list[DraftBody], Field(min_length=1, max_length=MOST_ENTRIES)]


class LogQuery(RequestModel):
    order: Annotated[str, OneOf("asc", "desc")] = Field("asc", description="`desc`: the last ones, the newest first.")
    limit: Annotated[int, Field(ge=1, le=MOST_ENTRIES), IN_QUERY] = 100
    cursor: Maybe[Cursor] = None


class AppendedAnswer(AnswerModel, title="LogAppended"):
    sequence: Count
    status: Annotated[str, OneOf("created", "duplicate")]


class AppendedAnswers(AnswerModel, title="LogAppendedEntries"):
    results: list[AppendedAnswer]


class EntryAnswer(AnswerModel, title="LogEntry"):
    sequence: Count
    at: Time
    payload: Any = Field(None, description="null where the entry is a blob.")
    blob: Maybe[str] = None
    role: Maybe[Annotated[str, OneOf(*Role)]] = None
    entry_key: Maybe[str] = None

    @classmethod
    def of_entry(cls, entry: Entry) -> Self:
        """The entry as it is shown."""
        return cls.made_of(entry)


class PoppedAnswer(AnswerModel, title="LogPopped"):
    """Without `entry` where the log has none."""

    entry: Maybe[EntryAnswer] = None


class LogAnswer(AnswerModel, title="Log"):
    conversation_id: str
    entries: Count
    last_sequence: Count
    updated_at: Time


class UserAnswer(AnswerModel, title="User"):
    user_id: str


EntriesPage = page_of("LogEntriesPage", "entries", EntryAnswer)
LogsPage = page_of("LogsPage", "logs", LogAnswer)
UsersPage = page_of("UsersPage", "users", UserAnswer)

routes = Routes()


@routes.post(_LOG, answer=AppendedAnswers, good=(201,), errors=(409,), idempotent=True)
def append_to_log(app: App, request: Request, body: AppendBody) -> Reply:
    """Appends entries to the log of a conversation, all or none."""
    scope, conversation_id = _place(request)
    app.timeline.write_limits.take(scope.tenant, len(body.entries), app.rules.resolved(scope.tenant))
    drafts = [_draft(one) for one in body.entries]

    def work(_attempt: Attempt) -> Answer:
        with located(lambda _: ("body",)):
            appended = app.logs.append(scope, conversation_id, drafts, request.now)
        states = ["duplicate" if one.duplicate else "created" for one in appended]
        shown = [{"sequence": one.sequence, "status": state} for one, state in zip(appended, states, strict=True)]
        return Answer(201, {"results": shown})

    answer = idempotent(app, request, work, about=[scope.user_id, conversation_id])
    return answer.reply(AppendedAnswers.model_validate(answer.body), {"entries": len(drafts)})


@routes.get(_LOG, answer=EntriesPage)
def read_log(app: App, request: Request, query: LogQuery) -> Reply:
    """Entries of the log, from the first or from the last one on."""
    scope, conversation_id = _place(request)
    listing = listing_of(app, f"log {conversation_id}", scope, query)
    place = None if query.cursor is None else _read_up_to(open_cursor(query.cursor, listing, 2))
    newest_first = query.order == "desc"
    page = app.logs.read(scope, conversation_id, query.limit, place, newest_first=newest_first)
    fitting = len(within_page([EntryAnswer.of_entry(one) for one in page.entries]))
    if fitting < len(page.entries):
        page = app.logs.read(scope, conversation_id, fitting, place, newest_first=newest_first)
    return _page_reply(page, listing)


@routes.post(f"{_LOG}/pop", answer=PoppedAnswer, errors=(409,))
def pop_from_log(app: App, request: Request) -> Reply:
    """Removes the last entry of the log and returns it."""
    scope, conversation_id = _place(request)
    entry = app.logs.pop(scope, conversation_id, request.now)
    shown = PoppedAnswer(entry=None if entry is None else EntryAnswer.of_entry(entry))
    return Reply(200, shown, log={"found": entry is not None})


@routes.delete(_LOG, good=(204,), errors=(409,))
def clear_log(app: App, request: Request) -> Reply:
    """Removes all entries of the log."""
    scope, conversation_id = _place(request)
    app.logs.clear(scope, conversation_id, request.now)
    return Reply(204, "")


@routes.get(f"{USER}/logs", answer=LogsPage)
def list_logs(app: App, request: Request, query: Paged) -> Reply:
    """The user's logs that have entries, by their conversations."""
    scope = request.scope()
    listing = listing_of(app, "logs", scope)
    page = app.logs.logs(scope, query.limit, start_of(query, listing))
    return page_reply(LogsPage, page.logs, page.more, listing)


@routes.get("/v1/users", answer=UsersPage)
def list_users(app: App, request: Request, query: Paged) -> Reply:
    """The users of the tenant who have a memory or a log, by their ids."""
    if request.principal.limited_to_subject:
        raise Forbidden("the credentials are one user's")
    tenant = request.principal.tenant
    listing = listing_of(app, "users", Scope(tenant, ""))
    page = app.timeline.known_users.page(tenant, query.limit, start_of(query, listing))
    return page_reply(UsersPage, [UserAnswer(user_id=one) for one in page.user_ids], page.more, listing)


def _place(request: Request) -> tuple[Scope, str]:
    return request.scope(), request.path["conversation_id"]


def _read_up_to(sealed: list[Any]) -> Place:
    page, sequence = sealed
    return Place(page, int(sequence))


def _draft(body: DraftBody) -> Draft:
    return Draft(payload=body.payload, blob=body.blob, role=body.role, entry_key=body.entry_key)


def _page_reply(page: LogPage, listing: Listing) -> Reply:
    shown: dict[str, Any] = {"entries": [EntryAnswer.of_entry(one) for one in page.entries]}
    if page.more is not None:
        shown["next_cursor"] = seal([page.more.page, str(page.more.sequence)], listing)
    return Reply(200, EntriesPage.model_validate(shown), log={"returned": len(page.entries)})
