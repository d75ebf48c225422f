"""The tenant's knowledge: where it is stored, in which order, read by one query, whatever it says."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from embedded.setting import Memory
from embedded.timing import Counted
from recollect.core.errors import InvalidInput
from recollect.core.event import Source
from recollect.core.ids import IdSource
from recollect.core.items import ItemKey, ItemPath, ItemWrite, of_tenant, pages
from recollect.core.scope import Scope
from recollect.knowledge.use_cases import LOADED_AT_MOST, KnowledgeAuthor, KnowledgeStore
from recollect.memories.audit import Actor, ActorKind
from recollect.ports import Items

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)
TENANT = of_tenant("acme")
COST = "No, by 'cost' I mean the 'total_amount' field"


@pytest.fixture
def called() -> list[str]:
    """The methods of the items that were called."""
    return []


@pytest.fixture
def items(memory: Memory, called: list[str]) -> Items:
    counted: Any = Counted(memory.app.parts.items, called)
    return cast(Items, counted)


@pytest.fixture
def knowledge(items: Items) -> KnowledgeStore:
    return KnowledgeStore(items, IdSource())


def put_raw(items: Items, namespace: str, values: dict[str, Any]) -> None:
    """Stores values as an older version may have left them."""
    path = ItemPath("llm_knowledge", ("meaning", namespace))
    writes = [ItemWrite(ItemKey(path, key), {"value": value}) for key, value in values.items()]
    for start in range(0, len(writes), 25):
        items.write(TENANT, writes[start : start + 25], NOW)


def walked(knowledge: KnowledgeStore, namespace: str | None, limit: int) -> list[tuple[str, str]]:
    """Namespace and key of all entries of a listing, page by page."""
    read = list(pages(lambda after: knowledge.listed("acme", namespace, limit, after)))
    assert all(len(page.entries) <= limit for page in read)
    return [(entry.namespace, entry.key) for page in read for entry in page.entries]


def fill(knowledge: KnowledgeStore, places: Sequence[tuple[str, str]], tenant: str = "acme") -> None:
    """Good entries at these places."""
    values = {
        "vocabulary": {"target": "t"},
        "rule": {"condition": "c"},
        "correction": {"instruction": "i", "trigger": "t"},
    }
    for namespace, key in places:
        knowledge.put(tenant, namespace, key, values.get(namespace, "free"), NOW)


PLACES = [
    ("alpha", "1"), ("alpha", "2"), ("correction", "a"), ("correction", "b"), ("delta", "x"), ("rule", "a"),
    ("rule", "é"), ("vocabulary", "global:client"), ("vocabulary", "orders:cost"), ("zeta", "\u2028"), ("🦊", "~a/b"),
]  # fmt: skip


@pytest.mark.spec("S-01")
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 11, 200])
def test_all_of_it_is_listed_by_namespace_and_key(knowledge: KnowledgeStore, limit: int) -> None:
    fill(knowledge, list(reversed(PLACES)))
    fill(knowledge, [("alpha", "0"), ("rule", "0")], "globex")
    assert walked(knowledge, None, limit) == PLACES
    for namespace in {namespace for namespace, _ in PLACES}:
        assert walked(knowledge, namespace, limit) == [place for place in PLACES if place[0] == namespace]
    assert walked(knowledge, "none", limit) == []


@pytest.mark.spec("S-01")
def test_it_is_stored_in_llm_knowledge_and_nowhere_else(knowledge: KnowledgeStore, items: Items) -> None:
    fill(knowledge, PLACES)
    stored = items.page(TENANT, ItemPath("llm_knowledge"), 100, None).items
    assert {(item.key.path.labels[-1], item.key.key) for item in stored} == set(PLACES)


@pytest.mark.parametrize("after", ["", "x", "[]", "[1, 2]", '["a", "b", "c"]', "[true, null]", "{}"])
def test_a_place_that_is_none_is_refused(knowledge: KnowledgeStore, after: str) -> None:
    with pytest.raises(InvalidInput):
        knowledge.listed("acme", None, 10, after)


def test_a_walk_sees_what_stays_once_while_others_come_and_go(knowledge: KnowledgeStore) -> None:
    fill(knowledge, PLACES)
    seen: list[tuple[str, str]] = []
    for step, page in enumerate(pages(lambda after: knowledge.listed("acme", None, 2, after), 50)):
        seen += [(entry.namespace, entry.key) for entry in page.entries]
        fill(knowledge, [("alpha", f"0{step}"), ("rule", f"zz{step}")][step % 2 :])
        if step == 1:
            knowledge.delete("acme", "zeta", "\u2028", NOW)
    stayed = [place for place in PLACES if place[0] != "zeta"]
    assert [place for place in seen if place in stayed] == stayed
    assert len(seen) == len(set(seen))


def test_what_a_model_writes_is_an_inference_whatever_it_claims(knowledge: KnowledgeStore) -> None:
    claimed = {"target": "t", "source": "user_instruction"}
    model = KnowledgeAuthor(Scope("acme", "anna"), Actor(ActorKind.MODEL, "manage_knowledge"))
    entry = knowledge.put("acme", "vocabulary", "a:b", claimed, NOW, author=model)
    assert (entry.value["source"], entry.source) == ("inference", Source.INFERRED)
    rule = knowledge.put("acme", "rule", "r", {"condition": "c"}, NOW, author=model)
    assert "source" not in rule.value
    assert knowledge.get("acme", "rule", "r") == rule
    assert rule.source is Source.INFERRED


@pytest.mark.spec("S-31")
def test_section_and_resolution_are_loaded_by_one_query(knowledge: KnowledgeStore, called: list[str]) -> None:
    fill(knowledge, PLACES)
    for load in (lambda: knowledge.section("acme", "orders"), lambda: knowledge.resolve("acme", "cost", "orders")):
        called.clear()
        load()
        assert called == ["page"]


@pytest.mark.spec("S-31")
def test_a_section_names_what_holds_in_the_store_and_its_entries(knowledge: KnowledgeStore) -> None:
    knowledge.put("acme", "vocabulary", "global:cost", {"target": "any"}, NOW)
    knowledge.put("acme", "vocabulary", "orders:cost", {"target": "total"}, NOW)
    knowledge.put("acme", "rule", "vip", {"condition": "x", "applies_to": ["users"]}, NOW)
    knowledge.put("acme", "notes", "n", "free", NOW)
    section = knowledge.section("acme", "orders")
    assert section.text is not None
    assert section.text.splitlines()[2:] == ['- "cost" (orders) -> Mapped to field: "total"']
    assert [entry.key for entry in section.entries] == ["orders:cost"]
    everywhere = knowledge.section("acme", None)
    assert [entry.key for entry in everywhere.entries] == ["vip", "global:cost", "orders:cost"]
    assert knowledge.section("globex", "orders").text is None


@pytest.mark.spec("S-02", "S-32")
def test_a_malformed_legacy_value_is_skipped_counted_and_harms_nothing(knowledge: KnowledgeStore, items: Items) -> None:
    knowledge.put("acme", "vocabulary", "orders:cost", {"target": "total"}, NOW)
    put_raw(items, "vocabulary", {"colonless": {"target": "x"}, "orders:a": "no JSON", "orders:b": '{"target": "B"}'})
    put_raw(items, "rule", {"vip": {"condition": 5}})
    section = knowledge.section("acme", "orders")
    assert section.text is not None
    assert section.text.splitlines()[2:] == [
        '- "b" (orders) -> Mapped to field: "B"',
        '- "cost" (orders) -> Mapped to field: "total"',
    ]
    assert section.skipped == 3
    resolved = knowledge.resolve("acme", "cost of vip", "orders")
    assert (resolved.resolution.text, resolved.skipped) == ("total of vip", 3)
    assert knowledge.get("acme", "rule", "vip").value == {"condition": 5}


def test_free_entries_take_no_place_and_too_many_corrections_go_first(knowledge: KnowledgeStore, items: Items) -> None:
    knowledge.put("acme", "vocabulary", "orders:cost", {"target": "total"}, NOW)
    knowledge.put("acme", "rule", "vip", {"condition": "x"}, NOW)
    fill(knowledge, [("alpha", str(n)) for n in range(30)])
    assert not knowledge.section("acme", "orders").cut
    correction = {"instruction": "i", "trigger": "t"}
    put_raw(items, "correction", {f"{n:04}": correction for n in range(LOADED_AT_MOST)})
    section = knowledge.section("acme", "orders")
    assert section.cut
    assert len(section.entries) == LOADED_AT_MOST
    assert {"orders:cost", "vip"} <= {entry.key for entry in section.entries}
    assert knowledge.resolve("acme", "cost", "orders").cut


@pytest.mark.spec("S-25", "S-29", "S-40")
def test_what_is_learnt_holds_for_every_later_query_and_can_be_corrected(knowledge: KnowledgeStore) -> None:
    assert knowledge.resolve("acme", "cost by day", "orders").resolution.text == "cost by day"
    dry = knowledge.learn("acme", COST, "orders", NOW, dry_run=True)
    assert knowledge.listed("acme").entries == ()
    lesson = knowledge.learn("acme", COST, "orders", NOW)
    assert lesson == dry
    assert lesson is not None
    assert lesson.confirmation == "I have learnt that 'cost' refers to 'total_amount' for future queries."
    assert knowledge.get("acme", "vocabulary", "orders:cost").value == lesson.call.value
    assert knowledge.resolve("acme", "cost by day", "orders").resolution.text == "total_amount by day"
    assert knowledge.resolve("globex", "cost by day", "orders").resolution.text == "cost by day"
    knowledge.learn("acme", "No, 'cost' is the 'net' column", "orders", NOW)
    assert knowledge.resolve("acme", "cost by day", "orders").resolution.text == "net by day"
    assert knowledge.get("acme", "vocabulary", "orders:cost").version == 2


def test_what_teaches_nothing_stores_nothing(knowledge: KnowledgeStore, called: list[str]) -> None:
    assert knowledge.learn("acme", "What do you mean by 'cost'?", "orders", NOW) is None
    assert called == []
