"""The packed form of a record: short, frozen, and readable or refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.adapters.aws.item_format import pack_json, unpack_json
from recollect.contracts.examples import an_event
from recollect.core.errors import StoredDataError
from recollect.timeline.record import to_record

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_values)
def test_what_is_packed_comes_back(value: object) -> None:
    assert unpack_json(pack_json(value)) == value


@pytest.mark.parametrize("data", [b"", b"\x02{}", b"\x00{", b"\x01\xff\xff", b"\x01", b"\x00\xff"])
def test_what_cannot_be_read_is_refused(data: bytes) -> None:
    with pytest.raises(StoredDataError):
        unpack_json(data)


def test_a_record_of_one_kilobyte_of_talk_fits_in_one_write_unit_with_room_for_its_keys() -> None:
    talk = (
        "I went to the lake with Caroline last Saturday and we talked about her new job at the museum for hours. She "
        "said the curator wants her to plan an exhibition on textiles, and that she may travel to Lisbon in October. "
    )
    packed = pack_json(to_record(an_event(content=(talk * 5)[:1024])))
    assert len(packed) < 700


def test_what_does_not_shrink_is_kept_plain() -> None:
    assert pack_json("ÿ") == b'\x00"\xc3\xbf"'


def test_the_stored_form_stays_readable() -> None:
    """Bytes as the first release wrote them: if this fails, stored tables cannot be read."""
    first = bytes.fromhex(STORED)
    assert unpack_json(first) == json.loads(RECORD)


RECORD = (
    '{"format":1,"id":"018bcfe5-6800-7000-8000-000000000001","user_id":"user-7","conversation_id":"c-1","role":"user",'
    '"content":"I live in Paris","content_type":"userinput","source":"user","timestamp":"2025-03-01T12:00:00.000000Z",'
    '"recorded_at":"2025-03-01T12:00:00.000000Z","importance":0.6,"tags":["personal"],"metadata":{"source_id":"D1:1"}}'
)
STORED = (
    "01c3e6598ba4e4b454535d330b03035d73a03e5d0b106180008698a1618e353892750df186484e6659aa42669e4240625166"
    "3145c163aa6b600cf2b2a111e1e0c1a3163578cc10b9059efaf1247917432b43a5da5a00"
)
