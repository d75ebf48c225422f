"""The attribute of a thing: the rules' own for its noun, else one made of its words and the sort of the value (P-24).

What tells two things of one noun apart follows " of ".
"""

from collections.abc import Sequence

from recollect.domain.clauses import Token
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import WHEN, Sort, is_name, typed_values
from recollect.text.terms import stem

FAVOURITE = frozenset({"favourite", "favorite"})
_PLACED = frozenset({"at", "in", "on"})
_OF_FACET = {
    "where": ("where", "name", "words"),
    "when": ("when", "number"),
    "money": ("money", "number"),
    "name": ("name", "words"),
}


def attribute_of(thing: tuple[str, ...], facet: str, rules: CueRules, bare: bool) -> tuple[str, bool]:
    """The attribute of a thing, and whether it has one value at a time; `bare`: the value is an adjective."""
    if FAVOURITE & set(thing):
        kept = [word for word in thing if word not in FAVOURITE]
        return _with("favourite " + (kept[-1] if kept else "thing"), kept[:-1]), True
    known = rules.noun_of(thing)
    head, others = thing[-1], list(thing[:-1])
    if (
        known is not None
        and rules.attributes[known].personal
        and set(thing[:-1]) - rules.words.lists["personal_modifiers"]
    ):
        known = known if rules.noun_of(thing) != rules.noun_of(thing[-1:]) else None
    if known is not None and facet == "where" and rules.attributes[known].named and not rules.attributes[known].placed:
        known = None
    if known is not None and not (bare and rules.attributes[known].named):
        one = rules.attributes[known]
        return (known if one.personal else _with(known, others)), one.exclusive
    facets = rules.facets
    if head in facets and facet in _OF_FACET[facets[head]]:
        return _with(f"the {others[-1] if others else ''}:{facets[head]}", others[:-1]), True
    return _with(f"the {head}:{facet}", others), True


def _with(attribute: str, others: Sequence[str]) -> str:
    return f"{attribute} of {' '.join(sorted(stem(one) for one in others))}" if others else attribute


def facet_of(written: str, kept: Sequence[Token], value: Sequence[Token]) -> str:
    """The sort of a value by which it can stand in another's place: times of every form are one."""
    sorts = [one.sort for one in typed_values(written)]
    if any(sort in WHEN for sort in sorts):
        return "when"
    inner = kept[1:] if kept[0].word in _PLACED else kept
    named = any(token.is_capital for token in inner) or (len(value) > 1 and value[1].word in ("the", "my", "our"))
    placed = value[0].word in _PLACED and bool(inner) and named
    if placed:
        return "where"
    if sorts:
        return "number" if sorts[0] in (Sort.AMOUNT, Sort.NUMBER) else str(sorts[0])
    capital = kept[1:] if kept[0].word in ("with", "by", "from", "called", "named") else kept
    return str(Sort.NAME if is_name(capital) else Sort.WORDS)
