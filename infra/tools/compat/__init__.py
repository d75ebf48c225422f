"""Runs other projects' own test suites against Recollect (`make compat`) and writes docs/compatibility.md."""
