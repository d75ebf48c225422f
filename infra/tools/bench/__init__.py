"""Measures Recollect: `python -m infra.tools.bench`. Each figure is a ratio to a baseline of the same run."""
