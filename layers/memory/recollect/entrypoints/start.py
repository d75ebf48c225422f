"""The program `recollect`."""

import sys

from recollect.entrypoints.cli.main import program


def main() -> None:
    """Runs the command that the arguments name."""
    program(sys.argv[1:])()
