"""The contract of `Model`: `ModelContract` for all, `RemoteModelContract` for those behind a network."""

import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

import pytest

from recollect.context.model_call import Evidence, ModelRequest, Task
from recollect.context.rendering import Message, MessageRole
from recollect.contracts.examples import NOW
from recollect.core.errors import OutOfTime, RecollectError, Throttled, Unavailable, UpstreamFailed
from recollect.ports import Model

SAID = "My lurcher is called Biscuit."
ASKED = "What is the name of my lurcher?"


class Trouble(StrEnum):
    """How a model's server may fail."""

    THROTTLED = "throttled: it asks for seven seconds"
    IN_TROUBLE = "an error of its own"
    REFUSED = "a refusal"
    SILENT = "no answer for seconds"
    TRICKLING = "an answer that comes a byte at a time"
    CUT = "an answer that breaks off"
    NO_JSON = "an answer that is no JSON"
    NO_MESSAGE = "JSON without a message"
    NO_TEXT = "a message without text"
    CUT_JSON = "a text that ends at the limit of tokens, where JSON was asked for"


ERRORS: dict[Trouble, type[RecollectError]] = {
    Trouble.THROTTLED: Throttled,
    Trouble.IN_TROUBLE: Unavailable,
    Trouble.REFUSED: UpstreamFailed,
    Trouble.SILENT: OutOfTime,
    Trouble.TRICKLING: OutOfTime,
    Trouble.CUT: UpstreamFailed,
    Trouble.NO_JSON: UpstreamFailed,
    Trouble.NO_MESSAGE: UpstreamFailed,
    Trouble.NO_TEXT: UpstreamFailed,
    Trouble.CUT_JSON: UpstreamFailed,
}


_SLOW = (Trouble.SILENT, Trouble.TRICKLING)
_MOST_SECONDS = 2.0


def a_request(seconds: float = 5.0, *, json_answer: bool = False) -> ModelRequest:
    """A question with what was recalled for it."""
    return ModelRequest(
        task=Task.CONVERSE,
        messages=(Message(MessageRole.SYSTEM, f"Recalled: {SAID}"), Message(MessageRole.USER, ASKED)),
        evidence=(Evidence("e1", SAID, "user", NOW),),
        user_input=ASKED,
        seconds=seconds,
        json_answer=json_answer,
    )


class ModelContract:
    """A subclass gives the fixture `model`: one that answers."""

    @pytest.mark.spec("K-79")
    def test_it_answers_with_a_text_and_says_who_did(self, model: Model) -> None:
        answer = model.generate(a_request())
        assert answer.text.strip()
        assert answer.model
        assert answer.model in model.name

    def test_its_name_stays(self, model: Model) -> None:
        before = model.name
        model.generate(a_request())
        assert model.name == before != ""

    def test_unusual_messages_are_no_trouble(self, model: Model) -> None:
        bot, user = Message(MessageRole.ASSISTANT, "Hello!"), Message(MessageRole.USER, "日本 🙂\x00 \n[[")
        for messages in ((bot,), (bot, user, user, bot, bot, user), (user, Message(MessageRole.SYSTEM, "")), (user,)):
            assert model.generate(replace(a_request(), messages=messages, evidence=())).text.strip()


class RemoteModelContract(ModelContract):
    """A subclass gives `model`, and `suffer`: it makes the model's server answer with a trouble from then on."""

    @pytest.mark.spec("H-27", "H-30", "K-77")
    @pytest.mark.parametrize("trouble", list(Trouble))
    def test_each_trouble_is_an_error_of_the_tree(
        self, model: Model, suffer: Callable[[Trouble], None], trouble: Trouble
    ) -> None:
        suffer(trouble)
        began = time.monotonic()
        with pytest.raises(ERRORS[trouble]) as raised:
            model.generate(a_request(_seconds_for(trouble), json_answer=True))
        assert time.monotonic() - began < _MOST_SECONDS
        if isinstance(raised.value, Throttled):
            assert raised.value.retry_after_seconds == 7

    @pytest.mark.parametrize("trouble", list(Trouble))
    def test_an_error_shows_nothing_that_was_said(
        self, model: Model, suffer: Callable[[Trouble], None], trouble: Trouble
    ) -> None:
        suffer(trouble)
        with pytest.raises(RecollectError) as raised:
            model.generate(a_request(_seconds_for(trouble), json_answer=True))
        assert raised.value.__cause__ is None
        shown = "".join(traceback.format_exception_only(raised.value))
        assert not any(word in shown for word in ("lurcher", "Biscuit", "Bearer"))


def _seconds_for(trouble: Trouble) -> float:
    """Little where the time is to run out, else more than a busy machine needs."""
    return 0.25 if trouble in _SLOW else 10.0
