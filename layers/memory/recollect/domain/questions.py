"""Which texts only ask: a question that was asked is no fact, in any language that marks its questions."""

from recollect.domain.sentences import split_sentences

_MARKS = ("?", "？", "؟", "\u037e", "፧")
_CLOSING_MARKS = "\"'”’)»』」] "


def is_question(sentence: str) -> bool:
    """Whether the sentence ends with a question mark of any script; quotes and brackets may follow it."""
    return sentence.rstrip(_CLOSING_MARKS).endswith(_MARKS)


def only_asks(text: str) -> bool:
    """Whether every sentence of the text is a question; False for an empty text."""
    return is_question(text) and all(map(is_question, split_sentences(text)))
