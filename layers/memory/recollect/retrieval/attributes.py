"""The fields of a record that the grammar of filters reads, and what an index has of them (docs/filters.md).

Some fields are columns of every index. The others are tokens in one list of texts, which each engine has: the dotted
path, a separator, a letter for the kind, the value, such that tokens sort as values do.

| kind | of                                      | value                                                      |
|------|-----------------------------------------|------------------------------------------------------------|
| `s`  | a text                                  | the text                                                   |
| `f`  | the same in lower case, where it differs| the text, folded                                           |
| `n`  | a number                                | 20 hex digits                                              |
| `b`  | a truth value                           | `0` or `1`                                                 |
| `z`  | null                                    |                                                            |
| `h`  | a whole list or object                  | a hash                                                     |
| `m`  | a member of a list                      | kind and value of the member                               |
| `p`  | the namespace                           | a JSON list left open: what lies below it begins with it   |

`DECIDED` is a token of each record whose tokens say all of its fields. A record without it was indexed by an earlier
release, or has too much for an index: an engine lets it pass, and what is read back decides.
"""

import hashlib
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from recollect.core.errors import InvalidInput
from recollect.core.event import Event
from recollect.core.filter import (
    ORDERING,
    Condition,
    Filter,
    Operator,
    comparable,
    is_name,
    kind_of,
    mapped,
)
from recollect.core.scope import Labels
from recollect.core.time import from_iso, iso, microseconds, parse_instant

MOST_TOKENS = 256
MOST_TOKEN_BYTES = 8 * 1024
MOST_PART = 256
"""Characters of a part that an engine looks for; a longer one is looked for in what is read back."""
DECIDED = "\x1f"
_BETWEEN, _BEHIND = "\x1f", "\x20"
_NEXT = "\x00"
_LARGEST_EXACT = 2**53

NAMES: Final = ("conversation_id", "event_type", "role", "source", "key", "space_id", "persona_id", "household_id")
TIMES: Final = frozenset({"timestamp", "recorded_at", "expires_at", "valid_from", "valid_to"})
NUMBER, TAGS, METADATA = "importance", "tags", "metadata"
_LABELS = ("agent_id", "app_id", "namespace")
_TOKENED = ("speaker", "title", "category")
EVENT_FIELDS: Final = frozenset(
    {*NAMES, "timestamp", "recorded_at", "expires_at", NUMBER, TAGS, METADATA, *_LABELS, *_TOKENED}
)
MEMORY_FIELDS: Final = frozenset(
    {
        "id", "content", "persona_id", "household_id", "source", "key", "status", "origin", "keywords", NUMBER,
        METADATA, *_LABELS, *TIMES,
    }
)  # fmt: skip
"""Those of a memory. It is of no one conversation and role: events of several may say it."""
_OF_TIME = {Operator.EQ, Operator.NE, Operator.IN, Operator.EXISTS, *ORDERING}


def event_fields(event: Event) -> dict[str, Any]:
    """What a filter reads of an event, without what it has not; times in the public form."""
    return fields_of(event, EVENT_FIELDS)


def fields_of(record: object, names: Iterable[str]) -> dict[str, Any]:
    """These fields of a record as JSON, without those that are None or empty."""
    found = ((name, _json(getattr(record, name))) for name in names)
    return {name: value for name, value in found if value not in (None, "", [], {})}


def _json(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else iso(value) if hasattr(value, "isoformat") else value


def of_fields(wanted: Filter, names: frozenset[str], loc: Sequence[str | int] = ()) -> Filter:
    """The filter with its times in the one form whose order is that of time.

    Raises InvalidInput for a path that begins with none of these fields, and for a time that is none.
    """
    return mapped(wanted, lambda one: _of_field(one, names, loc))


def _of_field(one: Condition, names: frozenset[str], loc: Sequence[str | int]) -> Condition:
    name, *below = one.path
    if name not in names or (below and name != METADATA):
        raise InvalidInput(f"{'.'.join(one.path)[:64]} is no field: {', '.join(sorted(names))}", loc)
    if name not in TIMES or one.operator is Operator.EXISTS or one.value is None:
        return one
    if one.operator not in _OF_TIME:
        raise InvalidInput(f"{name} is a time, which takes {', '.join(sorted(_OF_TIME))}", loc)
    times = one.value if isinstance(one.value, list | tuple) else [one.value]
    found = [iso(parse_instant(time)) for time in times]
    return Condition(one.path, one.operator, found if one.operator is Operator.IN else found[0])


def instants(wanted: object) -> list[int]:
    """The instants of a condition's value, or of its values, in microseconds; null is none."""
    times = wanted if isinstance(wanted, list | tuple) else [wanted]
    return [microseconds(from_iso(time)) for time in times if isinstance(time, str)]


def tokens_of(event: Event) -> tuple[str, ...]:
    """The tokens of an event: of its labels always; of its other fields all of them, with `DECIDED`, or none."""
    found = _label_tokens(event.labels)
    others = fields_of(event, (*_TOKENED, METADATA))
    walk = (token for name, value in others.items() for token in _walk((name,), value))
    rest = list(islice(walk, MOST_TOKENS + 1))
    large = len(rest) > MOST_TOKENS or any(len(one.encode("utf-8", "surrogatepass")) > MOST_TOKEN_BYTES for one in rest)
    return tuple(dict.fromkeys([*found, *(() if large else (*rest, DECIDED))]))


def _label_tokens(labels: Labels) -> list[str]:
    named = {"agent_id": labels.agent_id, "app_id": labels.app_id, "namespace": list(labels.namespace) or None}
    tokens = [token for name, value in named.items() if value is not None for token in _walk((name,), value)]
    return [*tokens, _place(labels.namespace)] if labels.namespace else tokens


def _place(namespace: Sequence[str]) -> str:
    labels = "".join(json.dumps(label, ensure_ascii=False) + "," for label in namespace)
    return f"namespace{_BETWEEN}p[{labels}"


def _walk(path: tuple[str, ...], value: Any) -> Iterator[str]:
    """The tokens of a value and of what lies below it; names that no filter can have are left out."""
    start = ".".join(path) + _BETWEEN
    yield from (start + code for code in _codes(value))
    if isinstance(value, Mapping):
        for name, one in value.items():
            if is_name(name):
                yield from _walk((*path, name), one)
    elif isinstance(value, list | tuple):
        yield from (f"{start}m{code}" for one in value for code in _codes(one))


def _codes(value: Any) -> list[str]:
    folded = value.casefold() if isinstance(value, str) else value
    return [_code(value)] if folded == value else [_code(value), f"f{folded}"]


def _code(value: Any) -> str:
    """The same for values that are `core.filter.same`, and in their order among texts and among numbers."""
    kind = kind_of(value)
    if kind in ("list", "object"):
        return "h" + hashlib.sha256(json.dumps(_canonical(value)).encode()).hexdigest()[:24]
    if kind == "number":
        return "n" + _number(comparable(value))
    return {"text": f"s{value}", "boolean": f"b{value:d}" if kind == "boolean" else "", "null": "z"}[kind]


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"o": sorted([name, _canonical(one)] for name, one in value.items())}
    return [_canonical(one) for one in value] if isinstance(value, list | tuple) else _code(value)


def _number(value: float) -> str:
    """The nearest floating-point number as 16 hex digits that sort, then how far a whole one is from it."""
    nearest = float(value) + 0.0
    (bits,) = struct.unpack(">Q", struct.pack(">d", nearest))
    beyond = value - int(nearest) if isinstance(value, int) and abs(value) > _LARGEST_EXACT else 0
    return f"{bits ^ (0xFFFFFFFFFFFFFFFF if bits >> 63 else 1 << 63):016x}{beyond + 0x8000:04x}"


class Span(NamedTuple):
    """The tokens from `first` on, before `end`."""

    first: str
    end: str


class Part(NamedTuple):
    """The tokens that begin with `start` and have `part` behind it."""

    start: str
    part: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a condition asks of a record's tokens: one of these tokens, or one in a span, or one with a part."""

    exact: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    parts: tuple[Part, ...] = ()

    def behind(self, prefix: str) -> "Asked":
        """The same of tokens with a prefix before each."""
        return Asked(
            tuple(prefix + one for one in self.exact),
            tuple(Span(prefix + one.first, prefix + one.end) for one in self.spans),
            tuple(Part(prefix + one.start, one.part) for one in self.parts),
        )

    def met_by(self, token: str) -> bool:
        """Whether a token is one of those."""
        within = any(span.first <= token < span.end for span in self.spans)
        return within or token in self.exact or any(_has(token, one) for one in self.parts)


def _has(token: str, wanted: Part) -> bool:
    return token.startswith(wanted.start) and wanted.part in token[len(wanted.start) :]


_NOTHING = Asked()


def asked_of(condition: Condition) -> Asked | None:
    """What a condition without `ne` asks of the tokens; None where they do not tell.

    `exists: false` is asked as `exists: true`: `opposite` says so.
    """
    start, value = ".".join(condition.path) + _BETWEEN, condition.value
    if condition.operator in (Operator.EQ, Operator.NE):
        return Asked((start + _code(value),))
    if condition.operator is Operator.IN:
        return Asked(tuple(start + _code(one) for one in value))
    if condition.operator is Operator.EXISTS:
        return Asked(spans=(Span(start, start[:-1] + _BEHIND),))
    return _ordered(condition, start) if condition.operator in ORDERING else _contained(condition, start)


def opposite(condition: Condition) -> bool:
    """Whether the condition holds where what `asked_of` asks is not there."""
    return condition.operator is Operator.NE or (condition.operator is Operator.EXISTS and not condition.value)


def _ordered(condition: Condition, start: str) -> Asked:
    kind = {"text": "s", "number": "n"}.get(kind_of(condition.value))
    if kind is None:
        return _NOTHING
    own, first, end = start + _code(condition.value), start + kind, start + chr(ord(kind) + 1)
    spans = {
        Operator.GT: Span(own + _NEXT, end),
        Operator.GTE: Span(own, end),
        Operator.LT: Span(first, own),
        Operator.LTE: Span(first, own + _NEXT),
    }
    return Asked(spans=(spans[condition.operator],))


def _contained(condition: Condition, start: str) -> Asked | None:
    value, folded = condition.value, condition.operator is Operator.ICONTAINS
    if not isinstance(value, str):
        return Asked((f"{start}m{_code(value)}",))
    part = value.casefold() if folded else value
    if len(part) > MOST_PART:
        return None
    kinds = "sf" if folded else "s"
    members = tuple(f"{start}m{kind}{part}" for kind in kinds)
    return Asked(members, parts=tuple(Part(start + kind, part) for kind in kinds))


def asked_of_labels(
    agent_id: str | None, app_id: str | None, namespace: Sequence[str] | None, prefix: Sequence[str] | None
) -> list[Asked]:
    """What all must be asked of the tokens for these labels, which are always decided; None asks nothing."""
    named = {"agent_id": agent_id, "app_id": app_id}
    found = [Asked((f"{name}{_BETWEEN}s{one}",)) for name, one in named.items() if one is not None]
    if namespace is not None:
        found.append(Asked((_place(namespace),)))
    if prefix is not None:
        found.append(Asked(spans=(Span(_place(prefix), _place(prefix) + "\U0010ffff"),)))
    return found


def always_decided(condition: Condition) -> bool:
    """Whether the condition is of a field that every record has its tokens of."""
    return condition.path[0] in _LABELS
