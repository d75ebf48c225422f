"""`…/conversations/{conversation_id}/log`: what an application keeps of a conversation, exact and in order.

Nothing is derived from it: no memory, no summary, no contradiction, no search result.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from recollect.app import App
from recollect.core.errors import Forbidden, InvalidInput
from recollect.core.scope import Scope
from recollect.entrypoints.http.cursors import Listing, listing_of, open_cursor, page_reply, seal, start_of
from recollect.entrypoints.http.headers import KEY, Answer, Attempt, idempotent
from recollect.entrypoints.http.log_documents import (
    AppendBody,
    AppendedAnswers,
    BranchAnswer,
    BranchesAnswer,
    BranchQuery,
    EntriesPage,
    EntryAnswer,
    EntryPatch,
    LogQuery,
    LogsPage,
    PoppedAnswer,
    UserAnswer,
    UsersPage,
    VersionsPage,
)
from recollect.entrypoints.http.messages import NO_HEADERS, Reply, Request, etag
from recollect.entrypoints.http.models import Paged, fitted
from recollect.entrypoints.http.problems import located
from recollect.entrypoints.http.routing import USER, Routes
from recollect.session_log.branches import MAIN
from recollect.session_log.editing import Edit, EntryName
from recollect.session_log.entries import Entry
from recollect.session_log.reading import LogPage, Place

_LOG = f"{USER}/conversations/{{conversation_id}}/log"
_ENTRY = f"{_LOG}/entries/{{sequence}}"


routes = Routes()


@routes.post(_LOG, answer=AppendedAnswers, good=(201,), errors=(404, 409), idempotent=True)
def append_to_log(app: App, request: Request, body: AppendBody) -> Reply:
    """Appends entries to the log of a conversation, all or none."""
    scope, conversation_id = _place(request)
    _take(app, scope, len(body.entries))
    drafts = [one.draft for one in body.entries]

    def work(attempt: Attempt) -> Answer:
        how = replace(body.appending, request=attempt.seed if _is_repeatable(request) else None, again=attempt.again)
        with located(lambda _: ("body",)):
            appended = app.logs.append(scope, conversation_id, drafts, request.now, how)
        states = ["duplicate" if one.duplicate else "created" for one in appended]
        shown = [{"sequence": one.sequence, "status": state} for one, state in zip(appended, states, strict=True)]
        return Answer(201, {"results": shown})

    answer = idempotent(app, request, work, about=[scope.user_id, conversation_id])
    return answer.reply(AppendedAnswers.model_validate(answer.body), {"entries": len(drafts)})


@routes.get(_LOG, answer=EntriesPage, errors=(404,))
def read_log(app: App, request: Request, query: LogQuery) -> Reply:
    """Entries of the log, from the first or from the last one on."""
    scope, conversation_id = _place(request)
    listing = listing_of(app, f"log {conversation_id}", scope, query)
    place = None if query.cursor is None else _read_up_to(open_cursor(query.cursor, listing, 2))
    page = app.logs.read(
        scope, conversation_id, query.limit, place, newest_first=query.order == "desc", view=query.view
    )
    return _page_reply(page, listing)


@routes.get(f"{_LOG}/branches", answer=BranchesAnswer)
def list_log_branches(app: App, request: Request) -> Reply:
    """The branches of the log, in the order of their roots; `main` is none of them."""
    found = app.logs.branches(*_place(request))
    shown = [BranchAnswer.made_of(one) for one in found]
    return Reply(200, BranchesAnswer(branches=shown), log={"returned": len(shown)})


@routes.get(_ENTRY, answer=EntryAnswer, errors=(404,))
def get_log_entry(app: App, request: Request) -> Reply:
    """One entry of the log, of whichever branch."""
    return _entry_reply(app.log_entries.one(request.scope(), _named(request)))


@routes.add(
    "PATCH",
    _ENTRY,
    answer=EntryAnswer,
    errors=(404, 409, 412, 428),
    needs_version=True,
    idempotent=True,
)
def patch_log_entry(app: App, request: Request, body: EntryPatch) -> Reply:
    """Gives an entry another content; what it was stays in its history.

    A record of an idempotency key holds the version alone.
    """
    scope, name = request.scope(), _named(request)
    _take(app, scope, 1)

    def work(attempt: Attempt) -> Answer:
        edit = Edit(body.changed, request.accepts, attempt.again)
        with located(lambda _: ("body",)):
            edited = app.log_entries.edit(scope, name, edit, request.now)
        return Answer(200, {"version": edited.version}, edited)

    about = [scope.user_id, name.conversation_id, name.sequence]
    answer = idempotent(app, request, work, about=about)
    edited = answer.made or app.log_entries.in_version(scope, name, answer.body["version"])
    return _entry_reply(edited, answer.headers)


@routes.delete(_ENTRY, good=(204,), errors=(404, 409, 412))
def delete_log_entry(app: App, request: Request) -> Reply:
    """Removes an entry with its history; the sequences of the others stay."""
    app.log_entries.remove(request.scope(), _named(request), request.accepts, request.now)
    return Reply(204, "")


@routes.get(f"{_ENTRY}/history", answer=VersionsPage, errors=(404,))
def log_entry_history(app: App, request: Request, query: Paged) -> Reply:
    """What an entry was before, oldest first."""
    scope, name = request.scope(), _named(request)
    listing = listing_of(app, f"log {name.conversation_id} {name.sequence}", scope)
    after = start_of(query, listing)

    def read(limit: int) -> tuple[list[EntryAnswer], str | None]:
        page = app.log_entries.versions(scope, name, limit, after)
        return [EntryAnswer.of_entry(one) for one in page.versions], page.more

    return page_reply(VersionsPage, *fitted(read, query.limit), listing)


@routes.post(f"{_LOG}/pop", answer=PoppedAnswer, errors=(404, 409))
def pop_from_log(app: App, request: Request, query: BranchQuery) -> Reply:
    """Removes the last entry of the log, or of a branch, and returns it."""
    scope, conversation_id = _place(request)
    entry = app.logs.pop(scope, conversation_id, request.now, query.branch or MAIN)
    shown = PoppedAnswer(entry=None if entry is None else EntryAnswer.of_entry(entry))
    return Reply(200, shown, log={"found": entry is not None})


@routes.delete(_LOG, good=(204,), errors=(409,))
def clear_log(app: App, request: Request) -> Reply:
    """Removes all entries of the log, and its branches."""
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


def _take(app: App, scope: Scope, writes: int) -> None:
    app.timeline.limits.take(scope.tenant, writes, app.rules.resolved(scope.tenant))


def _is_repeatable(request: Request) -> bool:
    return KEY.lower() in request.call.headers


def _named(request: Request) -> EntryName:
    given = request.path["sequence"]
    if not re.fullmatch("[1-9][0-9]{0,11}", given):
        raise InvalidInput("must be a sequence", ("path", "sequence"))
    return EntryName(request.path["conversation_id"], int(given))


def _entry_reply(entry: Entry, headers: Mapping[str, str] = NO_HEADERS) -> Reply:
    log = {"version": entry.version}
    return Reply(200, EntryAnswer.of_entry(entry), {**headers, **etag(entry.version)}, log=log)


def _page_reply(page: LogPage, listing: Listing) -> Reply:
    shown: dict[str, Any] = {"entries": [EntryAnswer.of_entry(one) for one in page.entries]}
    if page.more is not None:
        shown["next_cursor"] = seal([page.more.page, str(page.more.sequence)], listing)
    return Reply(200, EntriesPage.model_validate(shown), log={"returned": len(page.entries)})
