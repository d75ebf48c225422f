"""Knowledge: a tenant's terms, rules and corrections, applied to queries and prompts, learnt from what users say."""
