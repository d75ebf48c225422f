"""`recollect init`, `doctor`, `serve`, `mcp` and `openapi`: an installation on this machine, checked and served."""

import logging
import os
import platform
import secrets
import signal
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Annotated

import typer
from rich.text import Text

from recollect.app import App
from recollect.core.errors import NotReady, RecollectError, require_package
from recollect.core.idempotency import IdempotencyClaim
from recollect.core.ids import IdSource
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.commands import (
    LOCAL_TENANT,
    Agent,
    Application,
    AsJson,
    Household,
    Namespace,
    Persona,
    Tenant,
    labels_of,
    opened,
    scope_of,
)
from recollect.entrypoints.cli.console import (
    INDEXED_BY,
    OTHER_VECTORS,
    WORDS_ALONE,
    build_model,
    ensure_model,
    how_to_build_the_model,
    projecting,
    say,
    settings_of_environment,
    write_json,
    write_line,
)
from recollect.entrypoints.cli.variables import unknown_variables
from recollect.ports import PartState
from recollect.search_index.state import OTHER_GENERATION
from recollect.settings import Settings

_OLDEST_PYTHON = (3, 11)
_PROBED = Scope("local", "recollect-doctor")


def init() -> None:
    """Creates table, index and bucket (or the local database) and the embedding model. Safe to run twice."""
    settings = settings_of_environment()
    if settings.embedder == "e5":
        built = build_model(settings)
        say(f"embedding model: {'built in ' + built if built else 'there'}")
    with opened(settings) as app:
        made = app.parts.create()
        say(f"created: {', '.join(made)}" if made else "engines: all there")
        if OTHER_GENERATION in app.search_index.health.lagging().values():
            say(OTHER_VECTORS)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `todo` says what helps where it is not well."""

    name: str
    ok: bool
    detail: str
    todo: str | None = None


def doctor(as_json: AsJson = False) -> None:
    """Checks this installation; exit code 1 where something is wrong."""
    checks = list(_checks())
    well = all(check.ok for check in checks)
    if as_json:
        write_json({"ok": well, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            _show(check)
    if not well:
        raise typer.Exit(1)


def _show(check: Check) -> None:
    write_line(
        Text("ok    " if check.ok else "wrong ", style="green" if check.ok else "bold red").append(
            f"{check.name}: {check.detail}", style="not bold default"
        )
    )
    if check.todo:
        write_line(f"      {'note' if check.ok else 'do'}: {check.todo}")


def _checks() -> Iterator[Check]:
    yield _python()
    yield from _unknown()
    try:
        settings = settings_of_environment()
    except RecollectError as error:
        yield Check("settings", False, str(error), "correct the variable, or unset it")
        return
    yield Check("settings", True, _summary(settings))
    home = _home(settings)
    yield home
    if home.ok or settings.engines == "aws":
        yield from _engines(settings)


def _python() -> Check:
    version = platform.python_version()
    old = sys.version_info < _OLDEST_PYTHON
    return Check("python", not old, version, "use Python 3.11 or newer" if old else None)


def _unknown() -> Iterator[Check]:
    """One for each: nothing is wrong with the installation, and it is hardly what was meant."""
    for one in unknown_variables():
        yield Check("variables", True, one.told, "unset it, or correct its name")


def _summary(settings: Settings) -> str:
    keys = f"{len(settings.api_keys)} API keys" if settings.api_keys else "no API keys"
    return f"engines {settings.engines}, embedder {settings.embedder}, projector {settings.projector}, {keys}"


def _home(settings: Settings) -> Check:
    """The folder of all data: it must be the user's own to write, and should be nobody else's to read."""
    home, name = settings.home, "home"
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        mode = stat.S_IMODE(home.stat().st_mode)
    except OSError as error:
        return Check(name, False, f"{home}: {error.strerror}", "set RECOLLECT_HOME to a folder that you can write")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return Check(name, False, f"{home} cannot be written", f"chmod u+rwx {home}")
    others = f"others on this machine can look into it: chmod 700 {home}" if mode & 0o077 else None
    return Check(name, True, str(home), others)


def _engines(settings: Settings) -> Iterator[Check]:
    try:
        with opened(settings) as app:
            parts = app.readiness.check().parts
            for name, state in parts.items():
                yield _part(settings, name, state)
            if parts["timeline"].ready:
                yield _attempt(settings, "read", lambda: _read(app))
                yield _attempt(settings, "write", lambda: _write(app))
    except RecollectError as error:
        yield Check("engines", False, str(error), _what_to_do(settings, "engines", error))


def _part(settings: Settings, name: str, state: PartState) -> Check:
    """`pending` of the index counts tenants whose index must be rebuilt; of the projection, quarantined events."""
    if name == "index" and state.pending:
        return Check(name, state.ready, state.detail, _reindex_advice(settings))
    if name == "projection":
        return Check(name, state.ready, state.detail, _replay_advice(settings) if state.pending else None)
    if not state.ready:
        return Check(name, False, state.detail + _waiting(state), _advice(settings, name))
    return Check(name, True, state.detail + _waiting(state), INDEXED_BY if state.pending else None)


def _waiting(state: PartState) -> str:
    return f"; {state.pending} or more events wait to be projected" if state.pending else ""


def _attempt(settings: Settings, name: str, probe: Callable[[], None]) -> Check:
    """Does what needs the permission, since a process cannot read its own AWS policies."""
    try:
        probe()
    except RecollectError as error:
        return Check(name, False, str(error), _what_to_do(settings, name, error))
    return Check(name, True, "permitted")


def _read(app: App) -> None:
    app.parts.timeline.tail(_PROBED)
    app.parts.projections.pending(1, None)
    app.parts.timeline.newest(_PROBED, 1)


def _write(app: App) -> None:
    """Claims an idempotency key that nobody uses and releases it; a claim that stays behind expires."""
    now = utc_now()
    later = now + timedelta(seconds=30)
    seed = IdSource().seed(int(now.timestamp() * 1000))
    claim = IdempotencyClaim(secrets.token_hex(32), secrets.token_hex(32), seed, now, later, later)
    app.parts.idempotency.claim(claim)
    app.parts.idempotency.release(claim)


def _what_to_do(settings: Settings, name: str, error: RecollectError) -> str:
    missing = isinstance(error, NotReady)
    return "run `recollect init`" if missing and settings.engines == "aws" else _advice(settings, name)


def _advice(settings: Settings, name: str) -> str:
    if name == "embedder":
        return _embedder_advice(settings)
    if name in ("judge", "rerank"):
        return how_to_build_the_model()
    if name == "tombstones":
        return "run `recollect tombstones`; `recollect serve` applies them by itself"
    if settings.engines == "local":
        return f"see that {settings.home} can be written and its disk is not full; recollect.db there holds all data"
    return {
        "timeline": "run `recollect init`; check RECOLLECT_TABLE, AWS_REGION and the AWS credentials",
        "index": "run `recollect init`; check RECOLLECT_OPENSEARCH_URL and that it answers from here",
        "snapshots": "run `recollect init`; check RECOLLECT_SNAPSHOT_BUCKET",
        "read": "allow the table's dynamodb:Query, GetItem, BatchGetItem to these AWS credentials",
        "write": "allow the table's dynamodb:PutItem, UpdateItem, DeleteItem to these AWS credentials",
    }.get(name, "check the endpoint, the region and the AWS credentials")


def _replay_advice(settings: Settings) -> str:
    if settings.engines == "aws":
        return (
            "an administrator of each tenant reads why with POST /v1/jobs/reconcile and GET /v1/jobs/{job_id}; "
            'when that is mended: POST /v1/jobs/reconcile {"replay": true}'
        )
    return "`recollect jobs failed` says why; when that is mended: `recollect jobs run reconcile --replay`"


def _reindex_advice(settings: Settings) -> str:
    if settings.engines == "aws":
        return "start the job with POST /v1/jobs/reindex, as an administrator of each tenant"
    return "run `recollect jobs run reindex`; `recollect serve` does so by itself"


def _embedder_advice(settings: Settings) -> str:
    return {
        "e5": f"{how_to_build_the_model()}; until then {WORDS_ALONE}",
        "openai": "check RECOLLECT_OPENAI_BASE_URL, its key, and RECOLLECT_OPENAI_EMBEDDING_MODEL",
        "bedrock": "allow bedrock:InvokeModel on amazon.titan-embed-text-v2:0 to these AWS credentials",
    }.get(settings.embedder, "check RECOLLECT_EMBEDDER")


_LOG = logging.getLogger(__name__)


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; anything but loopback needs keys.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8700,
) -> None:
    """Serves the HTTP API until stopped; ready when /v1/ready answers 200."""
    require_package("uvicorn", "this command")
    from recollect.entrypoints.http import server
    from recollect.entrypoints.http.access_log import AccessLog

    settings = settings_of_environment()
    server.check_host(settings, host)
    AccessLog(settings.log_level, sys.stderr)  # from here on our log is JSON lines
    _log_unknown_variables()
    ensure_model(settings, _LOG.warning)
    _announce(host, port)
    signal.signal(signal.SIGTERM, _stop)
    try:
        with suppress(KeyboardInterrupt):
            server.serve(settings, host, port)
    except SystemExit:
        raise typer.Exit(1) from None  # uvicorn has said why, such as that the port is taken


def _log_unknown_variables() -> None:
    for unknown in unknown_variables():
        _LOG.warning(unknown.told)


def _stop(_signal: int, _frame: object) -> None:
    """As Ctrl-C: the projector ends its page before the process does."""
    raise KeyboardInterrupt


def _announce(host: str, port: int) -> None:
    """To a person in words, to a collector of logs as a record."""
    where = f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{port}"
    if sys.stderr.isatty():
        say(f"Recollect on {where}, documentation on {where}/docs. Ctrl-C ends it.")
    else:
        _LOG.info("starting", extra={"url": where})


def mcp(
    user: Annotated[str, typer.Option("--user", "-u", envvar="RECOLLECT_MCP_USER", help="The user's id.")],
    persona: Persona = None,
    household: Household = None,
    agent: Agent = None,
    application: Application = None,
    namespace: Namespace = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Serves MCP on standard input and output until that ends; an assistant starts it by itself."""
    require_package("mcp", "this command")
    from recollect.entrypoints.http.access_log import AccessLog
    from recollect.entrypoints.mcp.server import serve_stdio

    scope, labels = scope_of(user, persona, household, tenant), labels_of(agent, application, namespace)
    settings = settings_of_environment()
    AccessLog(settings.log_level, sys.stderr)  # from here on our log is JSON lines
    _log_unknown_variables()
    ensure_model(settings, _LOG.warning)
    with opened(settings) as app, projecting(app):
        serve_stdio(app, scope, labels)


def openapi() -> None:
    """Prints the OpenAPI document."""
    from recollect.entrypoints.http.openapi import document_json

    sys.stdout.write(document_json().rstrip("\n") + "\n")
