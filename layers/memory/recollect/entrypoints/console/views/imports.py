"""Import by dropping a file: what it is and what it would bring, then step by step what became of it."""

import hashlib
import math
import secrets
import shlex
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from recollect.core.errors import InvalidInput
from recollect.core.time import parse_instant
from recollect.entrypoints.console.api import Refusal, absent
from recollect.entrypoints.console.forms import Upload, file_of
from recollect.entrypoints.console.uploads import HERE, ON_A_STACK, Dropped, Limits, Part, Sending, dropped
from recollect.entrypoints.console.visit import Views, Visit
from recollect.entrypoints.http.messages import Reply
from recollect.importing.contents import FAULTS_TOLD
from recollect.importing.reading import ExportFile
from recollect.importing.turns import WITHOUT_DATE, Dating, ExportFormat

views = Views()
_USER = ("users", "{user_id}")
_KINDS: Final = {
    "recollect": "an export of Recollect",
    ExportFormat.CHATGPT: "an export of ChatGPT",
    ExportFormat.CLAUDE: "an export of Claude",
    ExportFormat.WHATSAPP: "a chat of WhatsApp",
    ExportFormat.MEM0: "memories of mem0",
    ExportFormat.ZEP: "messages and facts of Zep",
    ExportFormat.CSV: "a table (CSV)",
    ExportFormat.TURNS: "turns of conversations",
    ExportFormat.MESSAGES: "messages with roles",
}
_STEP_SECONDS: Final = 2.0
_MOST_STEP_SECONDS: Final = 8.0
_MOST_WAITS: Final = 20
_DIGITS: Final = 12
_PASSING: Final = (409, 429, 503, 504)
"""Of a part that is sent again later: it is stored once, whatever became of it."""
_COUNTED: Final = ("created", "duplicate", "refused", "invalid")


@dataclass(slots=True)
class Tally:
    """What became of the file so far: how many of its entries were sent, and how often the API was waited for.

    `once` is the same for every try of one import: what is sent again has the answer of its first time.
    """

    once: str
    done: int
    waits: int
    counts: Counter[str]
    faults: list[str] = field(default_factory=list)
    share: float = 0.0

    def fault(self, told: str) -> None:
        """Names one of the first ten that the API has refused."""
        if len(self.faults) < FAULTS_TOLD:
            self.faults.append(told)

    def add(self, counts: Counter[str], part: Part, file_bytes: int) -> None:
        """A part was sent, so that nothing is waited for any more."""
        self.counts.update(counts)
        self.done, self.waits, self.share = self.done + part.entries, 0, part.offset_bytes / file_bytes


@views.get(*_USER, "import")
def import_page(visit: Visit) -> Reply:
    """A form for a file."""
    _check_user(visit)
    return _page(visit)


def _check_user(visit: Visit) -> None:
    """Raises Refusal for another user's page: looking at a file asks nothing of the API, which would."""
    principal = visit.principal
    if principal.limited_to_subject and principal.subject != visit.ids["user_id"]:
        raise absent("object")


def _page(visit: Visit, status: int = 200, **values: Any) -> Reply:
    shown = {"found": None, "tally": None, "state": None, "problems": [], "kinds": [], "digest": "", **values}
    return visit.page("import.html", status, **form_values(visit), **shown)


def form_values(visit: Visit) -> dict[str, Any]:
    """What the form for a file says: the formats, and what is too large for it."""
    limits = _limits(visit)
    command = f"recollect import FILE --user {shlex.quote(visit.ids['user_id'])}"
    most = limits.file_bytes // 1_000_000
    too_large = f"The file is too large for the console, which takes {most} MB. On the command line: {command}"
    return {"formats": list(ExportFormat), "most_bytes": limits.file_bytes, "too_large": too_large, "command": command}


def _limits(visit: Visit) -> Limits:
    return ON_A_STACK if visit.in_cloud else HERE


@views.post(*_USER, "import", of=import_page)
def import_file(visit: Visit) -> Reply:
    """Looks at a file; where that is asked for, stores the next part of it."""
    _check_user(visit)
    upload = file_of(visit.call, "file")
    if upload is None:
        return _page(visit, 422, problems=["Choose a file."])
    if len(upload.content) > _limits(visit).file_bytes:
        return _page(visit, 413, problems=[form_values(visit)["too_large"]])
    digest = hashlib.sha256(upload.content).hexdigest()
    is_other = visit.form.get("digest", digest) != digest
    try:
        file = _dropped(visit, upload)
        if visit.form.get("step") == "store" and not is_other:
            return _store(visit, file, digest)
        return _look(visit, file, digest)
    except InvalidInput as error:
        return _page(visit, 422, problems=[f"{str(error)[:1].upper()}{str(error)[1:]}."])


def _dropped(visit: Visit, upload: Upload) -> Dropped:
    """Raises InvalidInput for options that are none."""
    form = visit.form
    wanted = form.get("format", "")
    format_ = ExportFormat(wanted) if wanted in list(ExportFormat) else ExportFormat.AUTO
    at = form.get("at", "").strip()
    dating = Dating(parse_instant(f"{at}Z") if at else WITHOUT_DATE)
    file = ExportFile(
        path=Path(upload.name),
        format=format_,
        conversation_id=form.get("conversation", "").strip() or None,
        unpacked_bytes=_limits(visit).unpacked_bytes,
    )
    return dropped(upload, file, dating)


def _look(visit: Visit, file: Dropped, digest: str) -> Reply:
    """What the file holds; nothing is stored."""
    for _ in file.parts(visit.ids["user_id"], sys.maxsize):
        pass
    return _page(visit, state="look", found=file.contents, kinds=_named(file), digest=digest)


def _named(file: Dropped) -> Sequence[str]:
    return [_KINDS[kind] for kind in file.kinds]


def _store(visit: Visit, file: Dropped, digest: str) -> Reply:
    """Sends parts for a while; where no script goes on, all of them."""
    tally = _tally_of(visit)
    try:
        state = _sent(visit, file, tally)
    except Refusal as refused:
        return _page(visit, refused.status, problems=refused.sentences)
    if state == "done":
        tally.counts["invalid"] += file.contents.bad
        tally.faults = [*file.contents.faults, *tally.faults][:FAULTS_TOLD]
    return _page(visit, state=state, tally=tally, found=file.contents, digest=digest)


def _tally_of(visit: Visit) -> Tally:
    counts = Counter({name: _whole(visit.form.get(name, "")) for name in _COUNTED})
    once = visit.form.get("once") or secrets.token_urlsafe(16)
    return Tally(once, _whole(visit.form.get("done", "")), _whole(visit.form.get("waits", "")), counts)


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < _DIGITS else 0


def _sent(visit: Visit, file: Dropped, tally: Tally) -> str:
    """The state after the parts for which there was time. Raises Refusal for what no second try would mend."""
    scripted, spent = "hx-request" in visit.call.headers, 0.0
    began, most = time.monotonic(), None if scripted else math.inf
    for part in file.parts(visit.ids["user_id"], tally.done):
        most = _step_seconds(time.monotonic() - began) if most is None else most
        if spent > most:
            return "running"
        began = time.monotonic()
        try:
            counts = sum((_send(visit, one, tally) for one in part.sendings), Counter[str]())
        except Refusal as refused:
            if refused.status not in _PASSING:
                raise
            tally.waits += 1
            return "waiting" if scripted and tally.waits < _MOST_WAITS else "stopped"
        tally.add(counts, part, len(file.upload.content))
        spent += time.monotonic() - began
    return "done"


def _step_seconds(read: float) -> float:
    """How long parts are sent for, where it took so long to read the file up to them: about as long, within bounds."""
    return min(max(_STEP_SECONDS, read), _MOST_STEP_SECONDS)


def _send(visit: Visit, sending: Sending, tally: Tally) -> Counter[str]:
    """What became of each entry."""
    try:
        answer = visit.api.send("POST", sending.path, sending.body, once=tally.once).document
    except Refusal as refused:
        if "results" not in refused.problem:
            raise
        answer = refused.problem
    return _counted_lines(answer, sending, tally) if "created" in answer else _counted_events(answer, sending, tally)


def _counted_events(answer: Mapping[str, Any], sending: Sending, tally: Tally) -> Counter[str]:
    for place, one in zip(sending.places, answer["results"], strict=True):
        for fault in one.get("errors") or ():
            tally.fault(f"{place}: {fault['message']}")
    return Counter(one["status"] for one in answer["results"])


def _counted_lines(answer: Mapping[str, Any], sending: Sending, tally: Tally) -> Counter[str]:
    for one in answer.get("errors") or ():
        tally.fault(f"{sending.places[one['line'] - 1]}: {one['message']}")
    return Counter({name: answer[name] for name in _COUNTED})
