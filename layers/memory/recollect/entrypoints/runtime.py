"""The process around an app: how often Python collects its garbage."""

import gc

_NEW_OBJECTS = 10_000


def raise_gc_threshold() -> None:
    """Begins a collection after 10,000 new objects instead of 700; for a process of ours, never a library's.

    A search over a thousand records makes tens of thousands of objects that live as long as the search. By Python's own
    thresholds that is thirty collections, and for every fourth search one over the whole heap: rules, words, caches.
    p95 of a search by intent was 226 ms with them and 160 ms without, in one run.
    """
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
