"""What sections a document of cue rules has, and the check of a user's own: every fault is refused with its path."""

from collections.abc import Mapping
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.domain.cue_templates import read_template

TEMPLATE_LISTS = ("state", "held", "change", "end")
FLAGS = ("exclusive", "request", "personal", "of_things", "named", "placed")
WORD_LISTS = ("nouns", "about", "values", "never")
SECTIONS = (
    "attributes",
    "topics",
    "verb_classes",
    "words",
    "irregular",
    "related",
    "facets",
    "excludes",
    "fields",
    "evidence",
    "situations",
)
_FIELDS = {*FLAGS, *WORD_LISTS, *TEMPLATE_LISTS}
_FIXED = frozenset({"words", "topics", "facets", "evidence"})
_WAYS = frozenset({"state", "change"})
_MOST_NAMES = 400
_MOST_VALUES = 20
_MOST_TEXTS = 2_000
_LONGEST_TEXT = 500
_GREATEST_WEIGHT = 10


def checked_section(section: str, value: Any, known: Mapping[str, Any]) -> Mapping[str, Any]:
    """The names of a section, null as what disables one; `known` are those that the defaults have.

    Raises InvalidInput, its `loc` beginning with "cues".
    """
    loc: tuple[str | int, ...] = ("cues", section)
    if not isinstance(value, Mapping) or len(value) > _MOST_NAMES:
        raise InvalidInput(f"must be an object of at most {_MOST_NAMES} names", loc)
    for name, one in value.items():
        _check_name(name, loc)
        if section in _FIXED and name not in known:
            raise InvalidInput("unknown name", (*loc, str(name)))
        _CHECKS[section](one, (*loc, str(name)))
    return _without_null(section, value)


def _without_null(section: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    empty: Mapping[str, Any] = {"attributes": None, "irregular": "", "evidence": {}, "situations": {}}
    return {name: empty.get(section, []) if one is None else one for name, one in value.items()}


def _check_name(name: Any, loc: tuple[str | int, ...]) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > 64:
        raise InvalidInput("a name must be text of 1 to 64 characters", loc)


def _check_texts(value: Any, loc: tuple[str | int, ...]) -> None:
    if value is None:
        return
    if not isinstance(value, list) or len(value) > _MOST_TEXTS:
        raise InvalidInput(f"must be a list of at most {_MOST_TEXTS} texts", loc)
    for place, text in enumerate(value):
        if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST_TEXT:
            raise InvalidInput(f"must be text of 1 to {_LONGEST_TEXT} characters", (*loc, place))


def _check_templates(value: Any, loc: tuple[str | int, ...]) -> None:
    _check_texts(value, loc)
    for place, text in enumerate(value or ()):
        try:
            read_template(text, "", "", "")
        except InvalidInput as wrong:
            raise InvalidInput(str(wrong), (*loc, place)) from None


def _check_attribute(value: Any, loc: tuple[str | int, ...]) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping):
        raise InvalidInput("must be an object, or null", loc)
    for name, one in value.items():
        if name not in _FIELDS:
            raise InvalidInput("unknown name", (*loc, str(name)[:64]))
        if name in FLAGS:
            if not isinstance(one, bool):
                raise InvalidInput("must be true or false", (*loc, name))
        else:
            (_check_templates if name in TEMPLATE_LISTS else _check_texts)(one, (*loc, name))


def _check_situation(value: Any, loc: tuple[str | int, ...]) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping) or not 2 <= len(value) <= _MOST_VALUES:
        raise InvalidInput(f"must be an object of 2 to {_MOST_VALUES} values, or null", loc)
    for name, ways in value.items():
        _check_name(name, loc)
        if not isinstance(ways, Mapping) or not set(ways) <= _WAYS:
            raise InvalidInput("must be an object of lists: state, change", (*loc, name))
        for kind, texts in ways.items():
            _check_templates(texts, (*loc, name, kind))


def _check_forms(value: Any, loc: tuple[str | int, ...]) -> None:
    if value is not None and (not isinstance(value, str) or len(value) > _LONGEST_TEXT):
        raise InvalidInput("must be the verb's forms in one text, or null", loc)


def _check_weights(value: Any, loc: tuple[str | int, ...]) -> None:
    if value is None:
        return
    if not isinstance(value, Mapping) or len(value) > _MOST_NAMES:
        raise InvalidInput("must be an object of weights, or null", loc)
    for name, weight in value.items():
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not -_GREATEST_WEIGHT <= weight <= _GREATEST_WEIGHT:
            raise InvalidInput(
                f"must be a number from -{_GREATEST_WEIGHT} to {_GREATEST_WEIGHT}", (*loc, str(name)[:64])
            )


_CHECKS = {
    "attributes": _check_attribute,
    "topics": _check_templates,
    "verb_classes": _check_texts,
    "words": _check_texts,
    "irregular": _check_forms,
    "related": _check_texts,
    "facets": _check_texts,
    "excludes": _check_texts,
    "fields": _check_texts,
    "evidence": _check_weights,
    "situations": _check_situation,
}
