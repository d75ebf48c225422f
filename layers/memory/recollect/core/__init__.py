"""What every subject shares: events, items, ids, scopes, instants, vectors, errors.

It imports nothing else of Recollect.
"""
