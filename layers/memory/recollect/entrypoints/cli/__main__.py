"""`python -m recollect.entrypoints.cli`: the same as `recollect`."""

import sys

from recollect.entrypoints.cli.main import program

program(sys.argv[1:])(prog_name="recollect")
