"""Tool calls in a model's text: the protocols ABP and VCP, and what is done about damaged JSON (A-01 to A-18, P-8)."""
