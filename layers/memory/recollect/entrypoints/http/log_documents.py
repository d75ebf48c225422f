"""The log of a conversation in requests and answers (docs/logs.md)."""

import base64
import binascii
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from recollect.entrypoints.http.models import (
    IN_QUERY,
    AnswerModel,
    Count,
    Cursor,
    Identifier,
    Maybe,
    OneOf,
    Read,
    RequestModel,
    Shows,
    Time,
    YesOrNo,
    check_depth,
    fault,
    page_of,
)
from recollect.session_log.branches import MAIN, View
from recollect.session_log.entries import MOST_ENTRIES, MOST_LEVELS, Draft, Entry, Role
from recollect.session_log.use_cases import Appending

Sequence = Annotated[int, Field(ge=1, le=10**12 - 1)]


def _payload(value: Any) -> Any:
    check_depth(value, MOST_LEVELS)
    return value


def _blob(value: Any) -> str:
    try:
        base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise fault("must be base64") from None
    return str(value)


class ContentBody(RequestModel):
    """`payload` or `blob`."""

    cleared_by_null = frozenset({"payload"})

    payload: Annotated[Any, Read(_payload, {})] = Field(None, description="Any JSON of at most 256 KiB.")
    blob: Maybe[Annotated[str, Read(_blob, {"type": "string", "contentEncoding": "base64"})]] = Field(
        None, description="Bytes, in base64."
    )
    role: Maybe[Annotated[Role, OneOf(*Role)]] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len({"payload", "blob"} & self.model_fields_set) != 1:
            raise fault("must have a payload or a blob")
        return self


class DraftBody(ContentBody, title="LogDraft"):
    """`payload` or `blob`."""

    entry_key: Maybe[Identifier] = Field(
        None, description="An entry of the same key that is there already is not appended again."
    )

    @property
    def draft(self) -> Draft:
        """As it is appended."""
        return Draft(payload=self.payload, blob=self.blob, role=self.role, entry_key=self.entry_key)


class EntryPatch(ContentBody, title="LogEntryPatch"):
    """Another content; without `role` the entry has the one it had."""

    @property
    def changed(self) -> dict[str, Any]:
        """The fields of the entry that change."""
        content = {"payload": self.payload, "blob": self.blob}
        return content if self.role is None else {**content, "role": self.role}


class AppendBody(RequestModel, title="LogAppend"):
    entries: Annotated[list[DraftBody], Field(min_length=1, max_length=MOST_ENTRIES)]
    branch: Maybe[Identifier] = Field(None, description="The branch that they come onto; absent: `main`.")
    root: Maybe[Sequence] = Field(
        None, description="The entry behind which the branch begins, where it is not there yet."
    )

    @property
    def appending(self) -> Appending:
        """Where they come."""
        return Appending(branch=self.branch or MAIN, root=self.root)


class BranchQuery(RequestModel):
    branch: Maybe[Identifier] = Field(None, description="The branch; absent: `main`.")


class LogQuery(BranchQuery):
    order: Annotated[str, OneOf("asc", "desc")] = Field("asc", description="`desc`: the last ones, the newest first.")
    include_parents: Maybe[YesOrNo] = Field(
        None, description="`true`: what leads to the branch too: its parents' entries, up to where it begins."
    )
    every_branch: Maybe[YesOrNo] = Field(None, description="`true`: the entries of all branches, in one order.")
    limit: Annotated[int, Field(ge=1, le=MOST_ENTRIES), IN_QUERY] = 100
    cursor: Maybe[Cursor] = None

    @property
    def view(self) -> View:
        """What is read."""
        if self.every_branch == "true":
            return View(None)
        return View(self.branch or MAIN, self.include_parents == "true")


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
    branch: Maybe[str] = Field(None, description="Absent: `main`.")
    version: Annotated[int, Shows({"type": "integer", "minimum": 1})] = 1
    edited_at: Maybe[Time] = None

    @classmethod
    def of_entry(cls, entry: Entry) -> Self:
        """The entry as it is shown."""
        return cls.made_of(entry, branch=None if entry.branch == MAIN else entry.branch)


class PoppedAnswer(AnswerModel, title="LogPopped"):
    """Without `entry` where the log has none."""

    entry: Maybe[EntryAnswer] = None


class BranchAnswer(AnswerModel, title="LogBranch"):
    name: str
    root: Count
    parent: str


class BranchesAnswer(AnswerModel, title="LogBranches"):
    """Without `main`."""

    branches: list[BranchAnswer]


class LogAnswer(AnswerModel, title="Log"):
    conversation_id: str
    entries: Count
    last_sequence: Count
    updated_at: Time


class UserAnswer(AnswerModel, title="User"):
    user_id: str


EntriesPage = page_of("LogEntriesPage", "entries", EntryAnswer)
VersionsPage = page_of("LogEntryVersions", "versions", EntryAnswer)
LogsPage = page_of("LogsPage", "logs", LogAnswer)
UsersPage = page_of("UsersPage", "users", UserAnswer)
