"""`recollect`: the commands, and how their errors are shown.

Exit code 2 for input and settings that are wrong, 1 for what failed, 130 for Ctrl-C; one line, never a traceback.
"""

import errno
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup

from recollect import __version__
from recollect.core.errors import ConfigurationError, InvalidInput, NotFound, RecollectError
from recollect.entrypoints.cli.commands import CommandGroup
from recollect.entrypoints.cli.console import say, write_line
from recollect.entrypoints.cli.variables import unknown_variables

_OURS_TO_BLAME, _INPUT_TO_BLAME = 1, 2


class Commands(TyperGroup):
    """Turns what a command raises on purpose into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except RecollectError as error:
            say(f"error: {error}")
            wrong_input = isinstance(error, InvalidInput | ConfigurationError | NotFound)
            raise typer.Exit(_INPUT_TO_BLAME if wrong_input else _OURS_TO_BLAME) from None
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # typer ends quietly when nobody reads any more
            say(f"error: {error.filename or 'the disk'}: {error.strerror}")
            raise typer.Exit(_OURS_TO_BLAME) from None


class _Listed(NamedTuple):
    """A command, or a group of them: the module beside this one that has it, under which name."""

    module: str
    attribute: str


COMMANDS: Final = {
    "demo": _Listed("demo", "demo"),
    "serve": _Listed("setup", "serve"),
    "import": _Listed("import_file", "import_file"),
    "search": _Listed("search", "search"),
    "context": _Listed("context", "context"),
    "timeline": _Listed("search", "timeline"),
    "summarize": _Listed("context", "summarize"),
    "summaries": _Listed("context", "summaries"),
    "goals": _Listed("goals", "goals"),
    "chat": _Listed("chat", "chat"),
    "mcp": _Listed("setup", "mcp"),
    "init": _Listed("setup", "init"),
    "doctor": _Listed("setup", "doctor"),
    "rules": _Listed("knowledge", "rules"),
    "knowledge": _Listed("knowledge", "knowledge"),
    "merge-rules": _Listed("knowledge", "merge_rules"),
    "memories": _Listed("memories", "memories"),
    "decisions": _Listed("decisions", "decisions"),
    "conflicts": _Listed("decisions", "conflicts"),
    "jobs": _Listed("jobs", "jobs"),
    "export": _Listed("jobs", "export"),
    "snapshots": _Listed("jobs", "snapshots"),
    "backup": _Listed("jobs", "backup"),
    "rehearse": _Listed("jobs", "rehearse"),
    "restore": _Listed("jobs", "restore"),
    "erase": _Listed("deletion", "erase"),
    "erasure": _Listed("deletion", "erasure"),
    "reject": _Listed("deletion", "reject"),
    "rejections": _Listed("deletion", "rejections"),
    "keys": _Listed("deletion", "keys"),
    "api-keys": _Listed("api_keys", "api_keys"),
    "bridge": _Listed("memories", "bridge"),
    "tombstones": _Listed("deletion", "tombstones"),
    "eval": _Listed("evaluate", "evaluate"),
    "openapi": _Listed("setup", "openapi"),
}
"""In the order in which the help shows them."""


def program(arguments: Sequence[str]) -> CommandGroup:
    """The program for these arguments: with the one command that they begin with, whose modules alone are read, else
    with all.
    """
    named = arguments[0] if arguments else ""
    app = CommandGroup(
        cls=Commands,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        add_completion=False,
    )
    app.callback()(options)
    for name in (named,) if named in COMMANDS else () if arguments == ["--version"] else COMMANDS:
        _add(app, name)
    return app


def _add(app: CommandGroup, name: str) -> None:
    module, attribute = COMMANDS[name]
    found = getattr(import_module(f"{__package__}.{module}"), attribute)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name)
    else:
        app.command(name)(found)


def _show_version(asked: bool) -> None:
    if asked:
        write_line(f"recollect {__version__}")
        raise typer.Exit


_TELLS_IT_BY_ITSELF = frozenset({"doctor", "mcp", "serve"})
"""`doctor` lists what nothing reads, the others log it."""


def options(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Long-term memory for conversational agents.

    Data lies in the folder RECOLLECT_HOME, ~/.local/share/recollect where that is not set; `recollect doctor` shows it.
    """
    if context.invoked_subcommand not in _TELLS_IT_BY_ITSELF:
        for unknown in unknown_variables():
            say(f"warning: {unknown.told}")
