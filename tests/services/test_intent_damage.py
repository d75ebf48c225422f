"""Records that cannot be read: they score nothing, a warning names them, the others go on (R-71, R-72, R-79).

Each on a deployment of its own, spoiled behind its back, as a bad disk would: what is spoiled passes through the
table's stream, where it is given up.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from embedded.asking import logged
from recollect.adapters.aws.item_format import binary, event_in, pack_json
from recollect.adapters.aws.keys import event_key
from recollect.core.event import EventRef
from recollect.core.items import ItemWrite
from recollect.core.time import from_iso
from recollect.memories.storage import memory_key
from recollect.timeline.record import to_record
from services.intent_asking import BP, asked, contents, draft, the_line, told
from services.serving import LAPTOP, USER, Service, now

READINGS = ("blood pressure on Monday", "blood pressure on Tuesday", "blood pressure on Wednesday")
AGES = (3, 2, 1)


def without_a_date(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "timestamp"}


def of_a_newer_release(record: Mapping[str, Any]) -> dict[str, Any]:
    return {**record, "format": 99}


def without_anything(_record: Mapping[str, Any]) -> list[str]:
    return []


def rewrite_event(service: Service, ref: EventRef, change: Any) -> None:
    """Stores an event's record otherwise; its row, or its item, stays where it is."""
    parts: Any = service.app.parts
    if service.kind == LAPTOP:
        event = parts.timeline.find(service.scope(), ref.id)
        with parts._database.writing(durable=True) as connection:
            connection.execute(
                "UPDATE records SET record = ? WHERE row = (SELECT row FROM events WHERE id = ?)",
                (json.dumps(change(to_record(event))), ref.id),
            )
        return
    place = event_key(service.scope(), ref)
    item = parts.access.get_many([place])[place]
    parts.access.put_many([{**item, "z": binary(pack_json(change(to_record(event_in(item)))))}])


def rewrite_memory(service: Service, memory_id: str, change: Any) -> None:
    items, key = service.app.parts.items, memory_key(memory_id)
    stored = items.get(service.scope(), [key])[key]
    items.write(service.scope(), [ItemWrite(key, change(stored.value))], now())


def refs(service: Service) -> list[EventRef]:
    drafts = [draft(text, days) for text, days in zip(READINGS, AGES, strict=True)]
    places = zip(told(service, *drafts), drafts, strict=True)
    return [EventRef(one, from_iso(given["timestamp"])) for one, given in places]


@pytest.mark.spec("R-71", "R-72", "R-79")
@pytest.mark.parametrize(
    ("change", "settled"), [(without_a_date, True), (of_a_newer_release, False), (without_anything, False)]
)
def test_an_unreadable_record_scores_nothing_with_a_warning_and_the_others_go_on(
    own_service: Service, change: Any, settled: bool
) -> None:
    _, tuesday, _ = refs(own_service)
    if settled:
        own_service.settle()
    rewrite_event(own_service, tuesday, change)
    with logged() as lines:
        answer = asked(own_service, BP)
    assert contents(answer) == [READINGS[2], READINGS[0]]
    stats = answer["diagnostics"]["stats"]
    assert (stats["records_considered"], stats["records_matched"], stats["records_included"]) == (3, 2, 2)
    assert answer["diagnostics"]["dropped"] == {"threshold": 1}
    warning = the_line(lines, "records_unscorable")
    assert (warning["level"], warning["recordIds"]) == ("WARNING", [tuesday.id])
    assert "blood" not in str(lines)


@pytest.mark.spec("R-71", "R-72")
def test_all_but_one_of_many_are_unreadable(own_service: Service) -> None:
    places = [EventRef(one, from_iso(draft("", n)["timestamp"])) for n, one in enumerate(_many(own_service))]
    for place in places[1:]:
        rewrite_event(own_service, place, without_a_date)
    with logged() as lines:
        answer = asked(own_service, BP)
    assert contents(answer) == ["blood pressure 0"]
    assert the_line(lines, "records_unscorable")["recordIds"] == sorted(place.id for place in places[1:])


def _many(service: Service) -> list[str]:
    return told(service, *(draft(f"blood pressure {n}", n) for n in range(9)))


@pytest.mark.spec("R-71", "R-112")
def test_answered_by_date_the_others_go_on_too(own_service: Service) -> None:
    _, tuesday, _ = refs(own_service)
    rewrite_event(own_service, tuesday, without_a_date)
    answer = asked(own_service, "Hello")
    assert answer["diagnostics"]["fallback"] == "date_based"
    assert contents(answer) == [READINGS[2], READINGS[0]]


@pytest.mark.spec("R-71", "R-72")
def test_a_saved_memory_that_cannot_be_read_is_told_by_its_id(own_service: Service) -> None:
    kept, spoiled = (own_service.saved(f"my violin is in the {place}")["id"] for place in ("attic", "hall"))
    rewrite_memory(own_service, spoiled, of_a_newer_release)
    with logged() as lines:
        answer = own_service.search(query="Where is my violin?", mode="intent")
    assert [one["id"] for one in answer["results"]] == [kept]
    assert the_line(lines, "records_unscorable")["recordIds"] == [spoiled]


@pytest.mark.spec("R-71")
def test_an_event_whose_memory_cannot_be_read_is_not_shown_in_its_old_words(own_service: Service) -> None:
    """What its memory says now is not known: it may have been corrected."""
    event_id = own_service.say("My violin is in the attic", importance=0.9)
    own_service.say("The violin wants tuning", importance=0.1)
    own_service.settle()
    rewrite_memory(own_service, event_id, of_a_newer_release)
    with logged() as lines:
        answer = own_service.search(query="Where is my violin?", mode="intent")
    assert contents(answer) == ["The violin wants tuning"]
    assert the_line(lines, "records_unscorable")["recordIds"] == [event_id]


def test_where_records_are_listed_it_is_not_passed_over(own_service: Service) -> None:
    _, tuesday, _ = refs(own_service)
    rewrite_event(own_service, tuesday, without_a_date)
    answer = own_service.caller.timeline(USER, **{"from": "2024-01-01T00:00:00Z"})
    assert (answer.status, answer.json["type"]) == (500, "urn:recollect:problem:stored-data")
