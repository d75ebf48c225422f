"""`recollect`: the commands, and how their errors are shown.

Exit code 2 for input and settings that are wrong, 1 for what failed, 130 for Ctrl-C; one line, never a traceback.
"""

import errno
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from recollect import __version__
from recollect.core.errors import ConfigurationError, InvalidInput, NotFound, RecollectError
from recollect.entrypoints.cli.chat import chat
from recollect.entrypoints.cli.commands import CommandGroup
from recollect.entrypoints.cli.console import say, write_line
from recollect.entrypoints.cli.context import context, goals, summarize
from recollect.entrypoints.cli.deletion import erase, erasure, keys, reject, rejections, tombstones
from recollect.entrypoints.cli.demo import demo
from recollect.entrypoints.cli.evaluate import evaluate
from recollect.entrypoints.cli.import_file import import_file
from recollect.entrypoints.cli.jobs import backup, export, jobs, rehearse, restore, snapshots
from recollect.entrypoints.cli.knowledge import knowledge, merge_rules, rules
from recollect.entrypoints.cli.memories import bridge, conflicts, decisions, memories
from recollect.entrypoints.cli.search import search, timeline
from recollect.entrypoints.cli.setup import doctor, init, mcp, openapi, serve

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


app = CommandGroup(
    cls=Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        write_line(f"recollect {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Long-term memory for conversational agents."""


app.command()(demo)
app.command()(serve)
app.command("import")(import_file)
app.command()(search)
app.command()(context)
app.command()(timeline)
app.command()(summarize)
app.command()(goals)
app.command()(chat)
app.command()(mcp)
app.command()(init)
app.command()(doctor)
app.command()(rules)
app.add_typer(knowledge, name="knowledge")
app.add_typer(merge_rules, name="merge-rules")
app.add_typer(memories, name="memories")
app.add_typer(decisions, name="decisions")
app.add_typer(conflicts, name="conflicts")
app.add_typer(jobs, name="jobs")
app.command()(export)
app.add_typer(snapshots, name="snapshots")
app.command()(backup)
app.command()(rehearse)
app.command()(restore)
app.command()(erase)
app.command()(erasure)
app.command()(reject)
app.add_typer(rejections, name="rejections")
app.add_typer(keys, name="keys")
app.add_typer(bridge, name="bridge")
app.command()(tombstones)
app.command("eval")(evaluate)
app.command()(openapi)
