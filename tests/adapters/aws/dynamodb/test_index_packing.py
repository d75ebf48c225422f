"""Packing of the table's own index: what is left of what was removed, what a crash leaves, and how exact it stays."""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from recollect.adapters.aws import index_nomination, index_packing, keys, table_index
from recollect.adapters.aws.index_blocks import pack_part, unpack_part
from recollect.adapters.aws.index_columns import UserColumns
from recollect.adapters.aws.index_documents import IndexDocuments
from recollect.adapters.aws.index_ids import PackedIds, places_of
from recollect.adapters.aws.index_lists import Lists
from recollect.adapters.aws.index_packing import PackDocuments
from recollect.adapters.aws.index_part import NUMBERS, Part, part_of, record_of, with_packed
from recollect.adapters.aws.index_vectors import PackedVectors
from recollect.adapters.aws.projections import DynamoDBProjections
from recollect.adapters.aws.table import ItemAccess, Walk
from recollect.adapters.aws.table_index import TableIndex
from recollect.adapters.exact_search import RESCORED_BESIDES, VectorArm
from recollect.adapters.local.files import FolderSnapshots
from recollect.contracts.examples import (
    a_document,
    a_random_vector,
    a_request,
    a_scope,
    a_vector,
    an_event,
    arm_of,
    ids_of,
    some_events,
)
from recollect.core.errors import StoredDataError, Unavailable, VersionMismatch
from recollect.core.items import of_tenant
from recollect.core.scope import Scope
from recollect.core.vectors import FloatArray, unit
from recollect.retrieval.filters import DropReason
from recollect.retrieval.nomination import Arm, IndexCount
from recollect.timeline.timeline import Projection

LENGTH = 384
GENERATION = "hash.1"


class Deployed:
    """An index whose blocks lie in a folder, and what is stored of a user."""

    def __init__(self, access: ItemAccess, folder: Path) -> None:
        self.access, self.folder = access, folder
        self.store = FolderSnapshots(folder)
        self.index = TableIndex(access, lambda _: ["user"], GENERATION, LENGTH, lambda: self.store)
        self.packing = PackDocuments(access, lambda: self.store)
        self.scope = a_scope()

    def put(self, contents: list[str], vectors: list[FloatArray] | None = None) -> list[str]:
        """Puts an event for each text; returns their ids."""
        events = [replace(e, content=c) for e, c in zip(some_events(self.scope, len(contents)), contents, strict=True)]
        given = vectors or [a_random_vector(n, LENGTH) for n in range(len(contents))]
        documents = [a_document(self.scope, e, v) for e, v in zip(events, given, strict=True)]
        assert self.index.put(documents) == []
        made = [Projection(e.ref, v, GENERATION) for e, v in zip(events, given, strict=True)]
        DynamoDBProjections(self.access).save(self.scope, made)
        return [event.id for event in events]

    def pack(self) -> None:
        self.packing.pack(GENERATION, self.scope)

    def objects(self) -> list[bytes]:
        return [path.read_bytes() for path in self.folder.rglob("*") if path.is_file() and "search-blocks" in str(path)]

    def items(self) -> list[str]:
        walk = Walk(keys.index_partition(GENERATION, self.scope))
        return [item["sk"]["S"] for item in self.access.walk(walk)]


@pytest.fixture
def deployed(moto_access: ItemAccess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployed:
    monkeypatch.setattr(index_packing, "FEWEST_PACKED", 4)
    return Deployed(moto_access, tmp_path)


@pytest.mark.spec("P-22")
def test_what_was_removed_is_hidden_at_once_and_gone_from_every_block_once_packed(deployed: Deployed) -> None:
    ids = deployed.put(["the secret xylophone", *["paris"] * 5])
    deployed.pack()
    assert (len(deployed.objects()), len(deployed.items())) == (1, 1)
    deployed.index.remove(deployed.scope, [ids[0]])
    assert ids[0] not in ids_of(deployed.index.nominate(deployed.scope, a_request("xylophone paris")).hits)
    assert deployed.packing.run(lambda: 100.0) == 1
    (data,) = deployed.objects()
    part = unpack_part(data)
    assert sorted(part.ids) == sorted(ids[1:])
    assert [word for word in part.terms.vocabulary if "xyl" in word or "secret" in word] == []
    assert len(part.vectors.rows(np.arange(len(part)))) == 5
    assert deployed.items() == ["B"]


def test_nothing_of_a_user_stays_who_was_removed_whole(deployed: Deployed) -> None:
    ids = deployed.put(["paris"] * 5)
    deployed.pack()
    deployed.index.remove(deployed.scope, ids)
    deployed.packing.run(lambda: 100.0)
    assert (deployed.objects(), deployed.items()) == ([], ["B"])
    assert deployed.index.count(deployed.scope) == IndexCount(0, 0)


def test_a_tenant_is_counted_without_reading_a_block_and_no_further_than_asked(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant, first = of_tenant(deployed.scope.tenant), deployed.scope
    ids = deployed.put(["paris"] * 6, [a_random_vector(n, LENGTH) for n in range(5)] + [np.zeros(LENGTH, np.float32)])
    deployed.pack()
    deployed.scope = Scope(first.tenant, "second")
    deployed.put(["rome"] * 4)
    asked: list[str] = []

    def users(_: str) -> Iterator[str]:
        for user_id in (first.user_id, "second"):
            asked.append(user_id)
            yield user_id

    index = TableIndex(deployed.access, users, GENERATION, LENGTH, lambda: deployed.store)
    assert index.count(tenant) == IndexCount(10, 9), "packed, and waiting"
    deployed.pack()
    with monkeypatch.context() as patch:
        patch.setattr(FolderSnapshots, "get", None)
        assert index.count(tenant) == IndexCount(10, 9)
        asked.clear()
        assert index.count(tenant, most=1).documents == 6
        assert asked == [first.user_id]
    deployed.index.remove(first, ids[:1])
    assert index.count(tenant) == IndexCount(9, 8)


def test_an_older_write_after_a_removal_brings_nothing_back(deployed: Deployed) -> None:
    event = an_event(deployed.scope, key="city")
    newest = replace(event, version=2)
    others = [a_document(deployed.scope, e, a_random_vector(1, LENGTH)) for e in some_events(deployed.scope, 4)]
    deployed.index.put([a_document(deployed.scope, newest, a_random_vector(0, LENGTH)), *others])
    deployed.pack()
    deployed.index.remove(deployed.scope, [event.id])
    deployed.index.put([a_document(deployed.scope, event, a_random_vector(0, LENGTH))])
    hits = deployed.index.nominate(deployed.scope, a_request("paris")).hits
    assert [hit.ref.id for hit in hits] == [event.id], "the older document, and not the block's"
    deployed.pack()
    assert deployed.index.count(deployed.scope).documents == 5


def test_an_older_write_after_packing_changes_nothing(deployed: Deployed) -> None:
    event = an_event(deployed.scope, key="city", superseded_by="x", version=2)
    others = [a_document(deployed.scope, e, a_random_vector(1, LENGTH)) for e in some_events(deployed.scope, 4)]
    deployed.index.put([a_document(deployed.scope, event, a_random_vector(0, LENGTH)), *others])
    deployed.pack()
    older = replace(event, superseded_by=None, version=1)
    deployed.index.put([a_document(deployed.scope, older, a_random_vector(0, LENGTH))])
    for _ in range(2):
        assert deployed.index.nominate(deployed.scope, a_request("paris")).hits == ()
        assert deployed.index.count(deployed.scope).documents == 5
        deployed.put(["oslo"] * 4)
        deployed.pack()
        deployed.index.remove(deployed.scope, [i for i in _ids(deployed) if i not in {event.id}][:4])


def _ids(deployed: Deployed) -> list[str]:
    return [ref.id for ref in deployed.index.listed(deployed.scope, 100, None).refs]


@pytest.mark.parametrize("step", ["put_if_absent", "_replace", "_forget", "delete_blocks"])
def test_a_run_that_dies_leaves_a_whole_index_and_the_next_one_cleans_up(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    ids = deployed.put(["paris"] * 6)
    deployed.pack()
    more = deployed.put(["rome"] * 6)
    deployed.index.remove(deployed.scope, ids[:2])

    def dies(*_: object) -> None:
        raise Unavailable("cut short")

    with monkeypatch.context() as patch:
        target = {"put_if_absent": FolderSnapshots, "delete_blocks": index_packing}.get(step, PackDocuments)
        patch.setattr(target, step, dies)
        assert deployed.packing.run(lambda: 100.0) == 0
    assert deployed.index.count(deployed.scope) == IndexCount(10, 10)
    assert deployed.packing.run(lambda: 100.0) == 1
    assert deployed.index.count(deployed.scope) == IndexCount(10, 10)
    assert (len(deployed.objects()), deployed.items()) == (1, ["B"])
    assert sorted(_ids(deployed)) == sorted([*ids[2:], *more])


def test_what_is_written_while_it_packs_stays(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = deployed.put(["paris"] * 5)
    replace_list = PackDocuments._replace

    def meanwhile(self: PackDocuments, *given: object) -> None:
        deployed.index.remove(deployed.scope, [ids[0]])
        deployed.index.put([a_document(deployed.scope, an_event(deployed.scope), a_random_vector(0, LENGTH))])
        replace_list(self, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(PackDocuments, "_replace", meanwhile)
        deployed.pack()
    assert deployed.index.count(deployed.scope).documents == 5
    assert ids[0] not in _ids(deployed)


def test_of_two_runs_at_once_one_wins(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    deployed.put(["paris"] * 5)
    replace_list = PackDocuments._replace

    def overtaken(self: PackDocuments, *given: object) -> None:
        monkeypatch.setattr(PackDocuments, "_replace", replace_list)
        deployed.pack()
        replace_list(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(PackDocuments, "_replace", overtaken)
    with pytest.raises(VersionMismatch):
        deployed.pack()
    assert deployed.index.count(deployed.scope).documents == 5


def test_one_user_s_broken_block_stops_nobody_else(deployed: Deployed, caplog: pytest.LogCaptureFixture) -> None:
    deployed.put(["paris"] * 5)
    deployed.pack()
    for path in deployed.folder.rglob("*-*"):
        if path.is_file():
            path.write_bytes(b"broken")
    deployed.index.remove(deployed.scope, ["unknown"])
    other = deployed.scope = a_scope()
    deployed.put(["rome"] * 5)
    IndexDocuments(deployed.access, GENERATION, lambda: deployed.store).ask_for_packing(other)
    assert deployed.packing.run(lambda: 100.0) == 1
    assert deployed.items() == ["B"]
    assert "StoredDataError" in str([record.__dict__ for record in caplog.records])


def test_it_packs_only_while_there_is_time(deployed: Deployed) -> None:
    deployed.index.remove(deployed.scope, ["unknown"])
    assert deployed.packing.run(lambda: 1.0) == 0
    assert deployed.packing.run(lambda: 100.0) == 1
    assert deployed.packing.run(lambda: 100.0) == 0


def test_every_sixteenth_waiting_document_asks_for_it(deployed: Deployed) -> None:
    def asked() -> int:
        return len(list(deployed.access.walk(Walk(keys.PACKING))))

    deployed.put(["paris"] * 15)
    assert asked() == 0
    deployed.put(["rome"])
    assert asked() == 1
    deployed.access.delete_many([keys.packing_key(GENERATION, deployed.scope)])
    deployed.put(["oslo"])
    assert asked() == 0, "the request was lost"
    deployed.put(["oslo"] * 20)
    assert deployed.packing.run(lambda: 100.0) == 1
    assert (deployed.items(), deployed.index.count(deployed.scope).documents) == (["B"], 37)


def test_where_too_many_wait_the_write_packs_them_or_asks_for_it(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_index, "PACKED_AT_ONCE", 20)
    deployed.put(["paris"] * 19)
    assert len(deployed.items()) == 19
    deployed.put(["rome"])
    assert (deployed.items(), deployed.index.count(deployed.scope).documents) == (["B"], 20)

    def refused(*_: object) -> None:
        raise Unavailable("no bucket")

    with monkeypatch.context() as patch:
        patch.setattr(FolderSnapshots, "put_if_absent", refused)
        deployed.put(["oslo"] * 20)
    assert len(deployed.items()) == 21
    assert deployed.packing.run(lambda: 100.0) == 1
    assert (deployed.items(), deployed.index.count(deployed.scope).documents) == (["B"], 40)


def test_blocks_of_a_user_of_few_records_have_the_vectors_as_they_were_given(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = [a_random_vector(n, LENGTH) for n in range(9)]

    def read(event_id: str, number: int) -> bool:
        hit = deployed.index.nominate(deployed.scope, a_request(vector=vectors[number], limit=1)).hits[0]
        assert hit.ref.id == event_id
        return hit.vector is not None and hit.vector.tolist() == vectors[number].tolist()

    monkeypatch.setattr(index_packing, "FULL_RECORDS", 6)
    ids = deployed.put(["paris"] * 5, vectors[:5])
    deployed.pack()
    with monkeypatch.context() as patch:
        patch.setattr(IndexDocuments, "stored_vectors", None)
        assert read(ids[3], 3), "from the block alone"
        ids += deployed.put(["paris"] * 4, vectors[5:])
        deployed.pack()
        assert isinstance(unpack_part(deployed.objects()[0]).vectors, PackedVectors)
    deployed.index.remove(deployed.scope, ids[:4])
    deployed.access.delete_many([keys.projection_key(deployed.scope, ids[8])])
    deployed.pack()
    monkeypatch.setattr(IndexDocuments, "stored_vectors", None)
    assert [read(ids[n], n) for n in (4, 7, 8)] == [True, True, False]


def test_a_block_that_vanishes_while_it_is_read_is_read_anew(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = deployed.put(["paris"] * 5)
    deployed.pack()
    get, calls = FolderSnapshots.get, []

    def replaced_once(self: FolderSnapshots, tenant: str, name: str) -> tuple[bytes, str] | None:
        calls.append(name)
        if len(calls) == 1:
            deployed.index.remove(deployed.scope, [ids[0]])
            deployed.pack()
        return get(self, tenant, name)

    monkeypatch.setattr(FolderSnapshots, "get", replaced_once)
    assert len(deployed.index.nominate(deployed.scope, a_request("paris")).hits) == 4


def test_lost_blocks_hide_only_their_own_documents_until_these_are_put_again(
    deployed: Deployed, caplog: pytest.LogCaptureFixture
) -> None:
    """A table that was restored to an earlier moment names blocks that are gone."""
    ids = deployed.put(["paris"] * 5)
    deployed.pack()
    for path in deployed.folder.rglob("*-*"):
        if path.is_file():
            path.unlink()
    deployed.put(["rome"] * 4)
    assert len(deployed.index.nominate(deployed.scope, a_request("paris rome")).hits) == 4
    assert "blocks of the index are lost" in caplog.text
    deployed.pack()
    caplog.clear()
    assert deployed.index.count(deployed.scope).documents == 4
    assert "lost" not in caplog.text
    assert ids[0] not in _ids(deployed)


def test_packing_that_is_always_faster_is_told(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = deployed.put(["paris"] * 9)
    deployed.pack()
    get, left = FolderSnapshots.get, list(ids)

    def replaced_each_time(self: FolderSnapshots, tenant: str, name: str) -> tuple[bytes, str] | None:
        with monkeypatch.context() as patch:
            patch.setattr(FolderSnapshots, "get", get)
            deployed.index.remove(deployed.scope, [left.pop()])
            deployed.pack()
        return get(self, tenant, name)

    monkeypatch.setattr(FolderSnapshots, "get", replaced_each_time)
    with pytest.raises(Unavailable):
        deployed.index.nominate(deployed.scope, a_request("paris"))


@pytest.fixture
def halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors are packed, however few there are."""
    monkeypatch.setattr(index_packing, "FULL_RECORDS", 0)
    monkeypatch.setattr(table_index, "PACKED_AT_ONCE", 1000)


@pytest.mark.usefixtures("halved")
def test_the_ten_best_of_packed_vectors_are_the_exact_ten(deployed: Deployed) -> None:
    vectors = [a_random_vector(n, LENGTH) for n in range(400)]
    ids = deployed.put(["paris"] * 400, vectors)
    exact = _best(deployed, a_random_vector(999, LENGTH))
    deployed.pack()
    packed = _best(deployed, a_random_vector(999, LENGTH))
    assert packed == exact
    hit = deployed.index.nominate(deployed.scope, a_request(vector=vectors[7], limit=1)).hits[0]
    assert (hit.ref.id, hit.vector.tolist() if hit.vector is not None else None) == (ids[7], vectors[7].tolist())


@pytest.mark.usefixtures("halved")
def test_without_its_projection_a_vector_is_nearly_what_it_was(deployed: Deployed) -> None:
    vectors = [a_random_vector(n, LENGTH) for n in range(5)]
    ids = deployed.put(["paris"] * 5, vectors)
    deployed.pack()
    deployed.access.delete_many(keys.projection_key(deployed.scope, event_id) for event_id in ids)
    hit = deployed.index.nominate(deployed.scope, a_request(vector=vectors[3], limit=1)).hits[0]
    assert hit.ref.id == ids[3]
    assert hit.vector is not None
    assert 0.99 < float(hit.vector @ vectors[3]) / float(np.linalg.norm(hit.vector)) < 1


def test_of_twenty_thousand_packed_vectors_hardly_one_of_the_best_is_missed() -> None:
    """The hardest kind: without any direction in common the eighty nearest lie as close together as can be."""
    chance = np.random.default_rng(7)
    matrix = unit(chance.standard_normal((20_000, LENGTH)).astype(np.float32))
    columns = UserColumns([packed_part(matrix)], [np.ones(len(matrix), dtype=np.bool_)], None)
    missed = dict.fromkeys((20, 80), 0)
    for query in unit(chance.standard_normal((30, LENGTH)).astype(np.float32)):
        looked_at = VectorArm(columns, query).near(columns["alive"], 80)
        assert len(looked_at) <= 80 + RESCORED_BESIDES
        nearest = np.argsort(-(matrix @ query))
        for most in missed:
            missed[most] += len(np.setdiff1d(nearest[:most], looked_at))
    assert missed[20] == 0
    assert missed[80] / (30 * 80) < 0.03


@pytest.mark.usefixtures("halved")
@pytest.mark.parametrize(("most", "exact"), [(3, False), (6, True)])
def test_a_tally_says_where_it_took_rough_cosines_for_the_threshold(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, most: int, exact: bool
) -> None:
    monkeypatch.setattr(index_nomination, "MOST_DOUBTFUL", most)
    query = a_random_vector(0, LENGTH)
    other = a_random_vector(1, LENGTH)
    deployed.put(["paris"] * 6, [unit(query + share * other) for share in (0.97, 0.98, 0.985, 0.995, 1.0, 1.01)])
    deployed.pack()
    least = float(query @ unit(query + 0.99 * other)) / float(np.linalg.norm(query))
    counted = deployed.index.nominate(
        deployed.scope, replace(a_request(vector=query, limit=1), min_similarity=least, count=True)
    ).tally
    assert counted is not None
    assert counted.exact is exact
    assert not exact or counted.dropped == {DropReason.THRESHOLD: 3}


def test_few_bits_serve_vectors_of_few_numbers_and_none_alike() -> None:
    matrix = np.zeros((5, 7), dtype=np.float32)
    matrix[1:, 0] = 1.0
    matrix[2, 6] = matrix[3, 6] = 0.5
    matrix[4] = 1.0
    packed = PackedVectors.of(unit(matrix))
    assert np.allclose(packed.rows(np.arange(5)), unit(matrix), atol=0.06)
    assert np.allclose(packed.cosines(unit(matrix)[2]), unit(matrix) @ unit(matrix)[2], atol=0.06)
    assert PackedVectors.of(np.zeros((2, 0), dtype=np.float32)).dimension == 0


def packed_part(matrix: FloatArray) -> Part:
    """Records that differ in nothing but their vectors."""
    scope = Scope("t", "u")
    one = part_of([record_of(a_document(scope, e, a_random_vector(0, LENGTH))) for e in some_events(scope, 1)])
    places = np.zeros(len(matrix), dtype=np.int64)
    return Part(
        [str(n) for n in range(len(matrix))],
        {name: column[places] for name, column in one.numbers.items()},
        {name: column[places] for name, column in one.names.items()},
        one.strings,
        Lists.of([()] * len(matrix)),
        Lists.of([()] * len(matrix)),
        PackedVectors.of(matrix),
    )


@pytest.mark.parametrize("seed", range(3))
def test_lists_are_what_they_were_whatever_is_taken_out_and_joined(seed: int) -> None:
    chance = np.random.default_rng(seed)
    given = [[str(n) for n in chance.integers(6, size=chance.integers(5))] for _ in range(12)]
    mask = chance.random(12) < 0.5
    left = [one for one, kept in zip(given, mask, strict=True) if kept]
    lists = Lists.joined([Lists.of(given).selected(mask), Lists.of(given)])
    assert lists.vocabulary == sorted({name for one in [*left, *given] for name in one})
    assert lists.lengths.tolist() == [len(one) for one in [*left, *given]]
    for name in "012345x":
        counts = {n: one.count(name) for n, one in enumerate([*left, *given]) if name in one}
        places, times = lists.having(name)
        assert dict(zip(places.tolist(), times.tolist(), strict=True)) == counts


def _best(deployed: Deployed, query: FloatArray) -> list[str]:
    return arm_of(deployed.index.nominate(deployed.scope, a_request(vector=query, limit=10)), Arm.VECTOR)


def test_ids_are_read_back_and_found_however_they_are_written() -> None:
    ids = [an_event().id for _ in range(5)]
    ids += [
        "mine",
        str(UUID(int=0)),
        str(UUID(int=2**128 - 1)),
        ids[0].upper(),
        ids[1].replace("-", ""),
        f"{{{ids[2]}}}",
    ]
    packed = PackedIds.of(ids)
    assert list(packed) == ids == [packed[place] for place in range(len(packed))]
    wanted = {ids[3], ids[0].upper(), str(UUID(int=0)), "other", an_event().id}
    assert dict(packed.places(wanted)) == {n: one for n, one in enumerate(ids) if one in wanted}
    assert list(places_of(packed, ())) == []


@pytest.mark.usefixtures("halved")
def test_a_block_of_the_former_form_is_read_and_packed_anew(deployed: Deployed) -> None:
    ids = deployed.put(["the secret xylophone", *["paris"] * 5])
    deployed.pack()
    (path,) = [p for p in deployed.folder.rglob("*-*") if p.is_file()]
    new = unpack_part(path.read_bytes())
    path.write_bytes(in_the_former_form(new))
    read = unpack_part(path.read_bytes())
    assert list(read.ids) == list(new.ids)
    assert all(read.numbers[name].tolist() == column.tolist() for name, column in new.numbers.items())
    assert deployed.index.nominate(deployed.scope, a_request("xylophone", limit=1)).hits[0].ref.id == ids[0]
    deployed.index.remove(deployed.scope, [ids[0]])
    assert deployed.index.nominate(deployed.scope, a_request("xylophone")).hits == ()
    deployed.pack()
    (data,) = deployed.objects()
    assert (data[:4], sorted(unpack_part(data).ids)) == (b"RXB3", sorted(ids[1:]))


def in_the_former_form(part: Part) -> bytes:
    """As blocks were written before: all ids in the header, the importance as it is."""
    data = pack_part(part)
    (length,) = struct.unpack_from("<I", data, 4)
    header = json.loads(zlib.decompress(data[8 : 8 + length]))
    columns, start = [], 8 + length
    for kind, size in header.pop("columns"):
        columns.append(np.frombuffer(data, kind, size, start))
        start += columns[-1].nbytes
    columns = columns[:-2]
    columns[list(NUMBERS).index("importance")] = part.numbers["importance"]
    header |= {"ids": list(part.ids), "columns": [[one.dtype.str, one.size] for one in columns]}
    packed = zlib.compress(json.dumps(header).encode())
    return b"".join([b"RXB2", struct.pack("<I", len(packed)), packed, *(one.tobytes() for one in columns)])


@pytest.mark.parametrize("spoil", [lambda b: b"", lambda b: b"RXB9" + b[4:], lambda b: b[:60], lambda b: b[:-9]])
@pytest.mark.parametrize("form", [with_packed, lambda part: part])
def test_a_damaged_block_is_told(spoil: Callable[[bytes], bytes], form: Callable[[Part], Part]) -> None:
    scope = Scope("t", "u")
    records = [record_of(a_document(scope, e, a_vector())) for e in some_events(scope, 3)]
    part = form(part_of(records))
    data = pack_part(part)
    assert type(unpack_part(data).vectors) is type(part.vectors)
    with pytest.raises(StoredDataError):
        unpack_part(spoil(data))
