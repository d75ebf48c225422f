"""The judge of contradictions: its data, training, evaluation and export (`python -m infra.tools.judge`)."""
