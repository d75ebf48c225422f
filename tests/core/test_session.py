"""A session is one conversation."""

from dataclasses import replace

import pytest

from recollect.core.errors import Conflict
from recollect.core.event import Session
from samples.events import event


@pytest.mark.spec("K-60", "K-70")
def test_all_events_of_a_session_have_its_conversation_and_others_are_refused() -> None:
    first, second = event(content="hello"), event(content="hi", id="018f0000-0000-7000-8000-000000000002")
    session = Session(first.conversation_id).joined_by(first).joined_by(second)
    assert session.events == (first, second)
    assert {one.conversation_id for one in session.events} == {session.conversation_id}
    with pytest.raises(Conflict):
        session.joined_by(replace(first, conversation_id="another"))


@pytest.mark.spec("K-62")
def test_sessions_are_told_apart_by_their_id_alone() -> None:
    assert Session("one") != Session("two")
