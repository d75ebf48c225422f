"""What an error carries besides its sentence: callers decide by these, never by the words."""

from recollect.core.errors import (
    ConfigurationError,
    InvalidInput,
    RecollectError,
    Throttled,
    TurnUnanswered,
    Unavailable,
    UpstreamFailed,
)


def test_an_input_error_names_the_place() -> None:
    error = InvalidInput("no", ["body", "events", 0])
    assert (error.args, error.loc, InvalidInput("no").loc) == (("no",), ("body", "events", 0), ())


def test_a_throttled_call_says_for_how_long_where_that_is_known() -> None:
    error = Throttled("slow down", 2.5)
    assert (str(error), error.retry_after_seconds, Throttled("slow down").retry_after_seconds) == (
        "slow down",
        2.5,
        None,
    )
    assert isinstance(error, Unavailable)


def test_an_unanswered_turn_says_why_and_what_is_stored() -> None:
    cause = UpstreamFailed("no")
    error = TurnUnanswered("the model failed", cause, "c1", "e1")
    assert str(error) == "the model failed"
    assert (error.cause, error.conversation_id, error.input_event_id) == (cause, "c1", "e1")
    assert isinstance(error, UpstreamFailed)


def test_a_wrong_setting_is_named() -> None:
    error = ConfigurationError("RECOLLECT_X", "must be a number")
    assert (error.variable, str(error)) == ("RECOLLECT_X", "RECOLLECT_X: must be a number")
    assert isinstance(error, RecollectError)
