"""`python -m recollect.entrypoints.cli`: the same as `recollect`."""

from recollect.entrypoints.cli.main import app

app(prog_name="recollect")
