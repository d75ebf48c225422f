"""Deletion (P-22): deleting events, memories and users, rejecting values, and what keeps them deleted.

Of a deleted event its identity stays in the timeline as a tombstone, in place of the event: the same event is refused
when it comes again (`timeline.record` makes the identity, an adapter's `removal` leaves it). `storage` has the other
items of a deletion, `tombstone_log` the log outside of the table that a restored table is held against.
"""
