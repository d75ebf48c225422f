"""Context and turns: what the next model call should see, within a token budget, and one turn of a talk."""
