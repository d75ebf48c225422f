"""Search: what engines nominate is filtered, hydrated and ranked by one rule for every adapter."""
