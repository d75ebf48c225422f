"""The program `recollect`. Beside the client alone (`pip install --no-deps`) it says how to get what runs it."""

import gc
import sys
from collections.abc import Sequence

from recollect import __version__
from recollect.core.errors import NotReady, require_engine

_HELP = """\
Usage: recollect COMMAND …

Long-term memory for conversational agents. Only the client is installed:
{error}
"""


def main() -> None:
    """Runs the command that the arguments name.

    What is imported stays until the end. The garbage collector looks through none of it: that would be a sixth of a
    short command's time.
    """
    try:
        require_engine("the command recollect")
    except NotReady as error:
        raise SystemExit(_without_engine(sys.argv[1:], error)) from None
    gc.disable()
    from recollect.entrypoints.cli.main import program

    command = program(sys.argv[1:])
    gc.freeze()
    gc.enable()
    command(prog_name="recollect")


def _without_engine(arguments: Sequence[str], error: NotReady) -> int:
    if arguments == ["--version"]:
        sys.stdout.write(f"recollect {__version__}\n")
        return 0
    if not {"-h", "--help"}.isdisjoint(arguments):
        sys.stdout.write(_HELP.format(error=error))
        return 0
    sys.stderr.write(f"error: {error}\n")
    return 1
