"""What is published: the documents' payloads, ids that stay (A-23, A-38, A-58 to A-66)."""

import json
from datetime import timedelta

import pytest

from recollect.core.event import EventType
from recollect.memories.memory import promoted
from recollect.timeline.bus import (
    PRUNED_AT_ONCE,
    SegmentPlace,
    episodic_pruned,
    episodic_saved,
    episodic_warning,
    saved_ids,
    semantic_saved,
    semantic_warning,
)
from samples.events import ANNA, NOON, event

LATER = NOON + timedelta(hours=1)


@pytest.mark.spec("A-44", "A-59", "A-61")
@pytest.mark.parametrize(("persona", "place"), [(None, SegmentPlace("0007", 3)), ("work", None)])
def test_a_saved_event_has_the_documents_keys_and_its_segment(persona: str | None, place: SegmentPlace | None) -> None:
    one = event(recorded_at=NOON + timedelta(seconds=2), persona_id=persona, event_type=EventType.REMINDER)
    saved = episodic_saved(one, LATER, place)
    assert (saved.id, saved.type, saved.time) == (event().id, "memory:episodic:saved", LATER)
    assert dict(saved.detail) == {
        "eventId": event().id,
        "userId": "anna",
        "personaId": persona,
        "eventType": "reminder",
        "timestamp": "2024-05-01T12:00:00.000000Z",
        "importance": 0.6,
        "content": "I live in Paris",
        "segmentId": "0007" if place else None,
        "timelineLagMs": 2000,
        "segmentCount": 3 if place else 0,
    }


@pytest.mark.spec("A-23")
def test_a_memorys_making_has_one_id_of_its_own() -> None:
    memory = promoted(event(persona_id="work"), (), NOON)
    first, again = semantic_saved(memory, NOON), semantic_saved(memory, LATER)
    assert (first.id, first.type) == (again.id, "memory:semantic:saved")
    assert saved_ids(event().id) == (event().id, first.id)
    expected = {"memoryId": event().id, "userId": "anna", "personaId": "work", "content": "I live in Paris"}
    assert {name: first.detail[name] for name in expected} == expected
    assert first.detail["sourceEventIds"] == [event().id]


@pytest.mark.spec("A-62", "A-63")
def test_pruned_events_are_named_by_ids_and_hashes_without_a_word_of_them() -> None:
    events = [event(id=f"e{n}", content=f"word{n}") for n in range(3)]
    (pruned,) = episodic_pruned(ANNA, events, "retention", NOON)
    assert pruned.type == "memory:episodic:pruned"
    assert {name: pruned.detail[name] for name in ("userId", "personaId", "ids", "reason")} == {
        "userId": "anna",
        "personaId": None,
        "ids": ["e0", "e1", "e2"],
        "reason": "retention",
    }
    hashes = pruned.detail["hashes"]
    assert isinstance(hashes, list)
    assert len(set(map(str, hashes))) == 3
    assert "word" not in json.dumps(dict(pruned.detail))
    assert [one.id for one in episodic_pruned(ANNA, events[::-1], "retention", LATER)] == [pruned.id]


@pytest.mark.spec("A-63", "A-64")
def test_pruned_events_of_personas_are_apart_and_at_most_five_hundred_together() -> None:
    events = [event(id=f"e{n:04d}", persona_id="work" if n % 2 else None) for n in range(2 * PRUNED_AT_ONCE + 2)]
    pruned = episodic_pruned(ANNA, events, "retention", NOON)
    found = [(one.detail["personaId"], len(list(one.detail["ids"] or ()))) for one in pruned]  # type: ignore[arg-type]
    assert found == [(None, 500), (None, 1), ("work", 500), ("work", 1)]
    assert len({one.id for one in pruned}) == 4
    assert max(len(json.dumps(dict(one.detail))) for one in pruned) < 100_000
    assert episodic_pruned(ANNA, [], "retention", NOON) == []


@pytest.mark.spec("A-66", "A-38")
def test_warnings_have_severity_and_reason() -> None:
    warning = episodic_warning("w", "high", "segment corruption", "store", NOON)
    hints = warning.detail["hints"]
    assert isinstance(hints, list)
    assert hints
    expected = {"severity": "high", "reason": "segment corruption", "hints": hints, "source": "store"}
    assert (warning.id, warning.type, dict(warning.detail)) == ("w", "memory:episodic:warning", expected)
    other = semantic_warning("w", "high", "capacity", NOON)
    assert (other.type, dict(other.detail)) == ("memory:semantic:warning", {"severity": "high", "reason": "capacity"})
