"""The program `recollect`: its commands, or what installs them where only the client is installed."""

import sys

from recollect import __version__
from recollect.core.errors import INSTALL, NotReady, require_embedded

_HELP = ("-h", "--help")


def main() -> None:
    """Runs the command line; exit code 1 for a command without what runs it."""
    try:
        require_embedded("this command")
    except NotReady as error:
        sys.exit(_of_client(sys.argv[1:], str(error)))
    from recollect.entrypoints.cli.main import program

    program(sys.argv[1:])()


def _of_client(arguments: list[str], lack: str) -> int:
    """What the client alone can say."""
    if arguments == ["--version"]:
        sys.stdout.write(f"recollect {__version__}\n")
    elif not arguments or arguments[0] in _HELP:
        sys.stdout.write(
            f"recollect {__version__}: the Python client is installed.\n"
            f"The commands (demo, serve, search, import, doctor and others) come with {INSTALL}\n"
        )
    else:
        sys.stderr.write(f"error: {lack}\n")
        return 1
    return 0
