"""`python -m recollect.entrypoints.cli`: the same as `recollect`."""

from recollect.entrypoints.start import main

main()
