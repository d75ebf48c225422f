"""Blocks kept in a process: never more than allowed, never another tenant's, never what is no longer named."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from recollect.adapters.aws import index_packing, keys
from recollect.adapters.aws.index_blocks import pack_part
from recollect.adapters.aws.index_cache import KEPT_SECONDS, BlockCache
from recollect.adapters.aws.index_packing import PackDocuments
from recollect.adapters.aws.index_part import Part, part_of, record_of, selected
from recollect.adapters.aws.table import ItemAccess
from recollect.adapters.aws.table_index import TableIndex
from recollect.adapters.local.files import FolderSnapshots
from recollect.contracts.examples import a_document, a_request, a_scope, a_vector, ids_of, some_events
from recollect.core.scope import Scope
from recollect.retrieval.nomination import IndexCount


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def a_part(count: int = 3) -> Part:
    scope = Scope("t", "u")
    records = [record_of(a_document(scope, e, a_vector())) for e in some_events(scope, count)]
    return selected(part_of(records), np.ones(count, dtype=np.bool_))


def size_of(part: Part) -> int:
    return len(pack_part(part)) + 90 * (len(part.ids) + len(part.terms.vocabulary))


def test_what_is_kept_stays_within_its_bytes_and_the_longest_unused_goes_first() -> None:
    part = a_part()
    cache = BlockCache(2 * size_of(part), Clock())
    for name in ("a", "b"):
        cache.put("t", name, part, len(pack_part(part)))
    assert cache.get("t", "a") is part
    cache.put("t", "c", part, len(pack_part(part)))
    assert [cache.get("t", name) is part for name in "abc"] == [True, False, True]
    cache.put("t", "large", part, 3 * size_of(part))
    assert [cache.get("t", name) is part for name in ("a", "c", "large")] == [True, True, False]
    cache.put("t", "a", part, len(pack_part(part)))
    assert cache.get("t", "c") is part, "the same block again takes no room twice"


def test_a_tenant_sees_only_its_own_and_nothing_stays_for_longer_than_told() -> None:
    clock, part = Clock(), a_part()
    cache = BlockCache(10**6, clock)
    cache.put("t", "folder/a", part, 1)
    cache.put("other", "folder/a", part, 1)
    assert cache.get("third", "folder/a") is None
    cache.keep("t", "folder/", ["b"])
    assert (cache.get("t", "folder/a"), cache.get("other", "folder/a")) == (None, part)
    clock.seconds = KEPT_SECONDS + 1
    assert cache.get("other", "folder/a") is None


@dataclass
class Counting(FolderSnapshots):
    reads = 0

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)

    def get(self, tenant: str, name: str) -> tuple[bytes, str] | None:
        self.reads += 1
        return super().get(tenant, name)


@pytest.mark.spec("P-22")
def test_what_is_removed_is_hidden_though_its_block_is_kept_and_leaves_the_process_with_the_next_search(
    moto_access: ItemAccess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_packing, "FEWEST_PACKED", 1)
    store, scope, cache = Counting(tmp_path), a_scope(), BlockCache(10**6, Clock())
    dimension = len(a_vector())
    index = TableIndex(moto_access, lambda _: [scope.user_id], "hash.1", dimension, lambda: store, cache=cache)
    events = some_events(scope, 3)
    index.put([a_document(scope, event, a_vector()) for event in events])
    pack = PackDocuments(moto_access, lambda: store)
    pack.pack("hash.1", scope)
    store.reads = 0
    found = [ids_of(index.nominate(scope, a_request(vector=a_vector())).hits) for _ in range(3)]
    assert (store.reads, found[0], found[2]) == (1, found[1], {event.id for event in events} & set(found[0]))
    index.remove(scope, [events[0].id])
    assert events[0].id not in ids_of(index.nominate(scope, a_request(vector=a_vector())).hits)
    assert store.reads == 1
    (kept,) = cache._kept
    pack.pack("hash.1", scope)
    assert index.count(scope) == IndexCount(2, 2)
    assert kept not in cache._kept
    moto_access.delete_many([keys.blocks_key("hash.1", scope)])
    assert index.count(scope) == IndexCount(0, 0)
    assert not cache._kept
