"""Active learning: what a user says a word means (S-25 to S-29); and the prompt's sections (S-31 to S-38).

A table of patterns finds candidates; the text around one decides whether it is a statement: no question, not denied,
not supposed, not reported of somebody else. Every pattern and look around is bounded. English only.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.context.rendering import one_line
from recollect.core.errors import InvalidInput
from recollect.core.ids import id_fault
from recollect.knowledge.entries import (
    GLOBAL,
    BusinessRule,
    Correction,
    KnowledgeSource,
    Meanings,
    Namespace,
    Term,
    checked_value,
)
from recollect.knowledge.resolution import PATTERNS, Pattern, plain_quotes
from recollect.text.phrases import fold

LOOKED_AROUND = 200
"""Characters that are read before and after a candidate."""

SEMANTIC_MEMORY = "[Semantic Memory]\nThe following terms have special meanings in this database:"
BUSINESS_RULES = "[Business Rules]"
CORRECTIONS = "[Corrections]"
_SENTENCE_BEGINS = re.compile(r"[.!?\u2026\n\r](?=\s|$)")
_SENTENCE_ENDS = re.compile(r"[.!?\u2026]+(?=[\s\"')\]]|$)|[\n\r]")
_CLAUSE_BEGINS = re.compile(r"[,;:()\u2013\u2014]|\s-+\s|\bbut\b|\band\b|\bbecause\b")
_DENIED = re.compile(r"\b(?:not|never|cannot|neither|nor|without|hardly|no longer|false that|wrong that)\b|n't\b")
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|suppose|supposing|imagine|imagining|assume|assuming|pretend|hypothetically|maybe|perhaps)\b"
)
_WISHED = re.compile(r"\b(?:would|could|might|may)\b")
_ASKED = re.compile(
    r"\s*(?:(?:and|so|or|but|well|wait|hm+|what if)\s+)?"
    r"(?:do|does|did|is|are|was|were|can|could|should|shall|will|would|has|have|am|who|what|why|how|which|where)\b"
)
_REPORTED = re.compile(
    r"\b(?:says?|said|thinks?|thought|claims?|claimed|believes?|believed|wrote|writes|told|asks?|asked)\b"
)
_BY_ME = re.compile(
    r"\b(?:i|i've|we|we've)\s+(?:\w{1,20}\s+)?(?:say|said|think|thought|wrote|told|asked|believe|claim)\b"
)
_ANOTHER_CHOICE = re.compile(r"\s{0,4}\bor\b")


@dataclass(frozen=True, slots=True)
class Learnt:
    """A user's word and the field that it means, as spelt, without quotes."""

    term: str
    target: str


@dataclass(frozen=True, slots=True)
class ManageKnowledge:
    """A `manage_knowledge` call (S-25, S-39)."""

    namespace: str
    key: str
    value: Mapping[str, Any]
    action: str = "upsert"


def learnt_from(text: str) -> Learnt | None:
    """The first correction in the text; None where it has none. Raises on no text at all."""
    plain = plain_quotes(text)
    return min(_first_of_each(text, plain), key=lambda found: found[0], default=(0, None))[1]


def call_for(learnt: Learnt, store: str | None) -> ManageKnowledge | None:
    """The call that stores it for the store, else for all (S-26 to S-28); None where the term gives no valid key.

    Raises InvalidInput for a store that no key can name.
    """
    if store is not None and (":" in store or not store.strip()):
        raise InvalidInput("the name of a store is not blank and has no colon", ("store",))
    key = f"{store or GLOBAL}:{learnt.term}"
    value = {
        "target": learnt.target,
        "description": f"Users refer to the '{learnt.target}' field as '{learnt.term}'",
        "confidence": 1.0,
        "source": KnowledgeSource.USER_INSTRUCTION.value,
    }
    try:
        checked = checked_value(Namespace.VOCABULARY, value)
    except InvalidInput:
        return None
    return None if id_fault(key) else ManageKnowledge(Namespace.VOCABULARY.value, key, checked)


def confirmation_of(learnt: Learnt) -> str:
    """The sentence that confirms it to the user, verbatim (S-29)."""
    return f"I have learnt that '{learnt.term}' refers to '{learnt.target}' for future queries."


def _first_of_each(text: str, plain: str) -> Iterator[tuple[int, Learnt]]:
    for pattern in PATTERNS:
        for match in pattern.expression.finditer(plain):
            learnt = _learnt(text, plain, pattern, match)
            if learnt is not None:
                yield match.start(), learnt
                break


def _learnt(text: str, plain: str, pattern: Pattern, match: re.Match[str]) -> Learnt | None:
    read = pattern.read(match)
    if read is None or not _in_earnest(plain, match):
        return None
    term, target = (" ".join(text[slice(*span)].split()) for span in read)
    return Learnt(term, target) if term and target and fold(term) != fold(target) else None


def _in_earnest(plain: str, match: re.Match[str]) -> bool:
    before = _SENTENCE_BEGINS.split(plain[max(0, match.start() - LOOKED_AROUND) : match.start()])[-1].lower()
    clause = _CLAUSE_BEGINS.split(before)[-1]
    after = plain[match.end() : match.end() + LOOKED_AROUND]
    end = _SENTENCE_ENDS.search(after)
    if (end is not None and "?" in end[0]) or _ANOTHER_CHOICE.match(after):
        return False
    reported = _REPORTED.search(clause) is not None and _BY_ME.search(clause) is None
    unsaid = (_SUPPOSED.search(before), _DENIED.search(clause), _WISHED.search(clause), _ASKED.match(clause))
    return not reported and not any(unsaid)


def render_knowledge(meanings: Meanings, *, corrections: bool = True) -> str | None:
    """Terms, rules and, where wanted, corrections; an empty section is left out, None where all are (S-37).

    Each entry is one line: a line break in a value becomes a space.
    """
    sections = (
        _section(SEMANTIC_MEMORY, [_term_line(term) for term in _by_term(meanings.terms)]),
        _section(BUSINESS_RULES, [_rule_line(rule) for rule in sorted(meanings.rules, key=lambda rule: rule.key)]),
        _section(CORRECTIONS, [_correction_line(one) for one in meanings.corrections if corrections]),
    )
    return "\n\n".join(section for section in sections if section) or None


def _by_term(terms: Sequence[Term]) -> list[Term]:
    return sorted(terms, key=lambda term: (term.term, term.resource))


def _section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *lines]) if lines else ""


def _term_line(term: Term) -> str:
    return one_line(f'- "{term.term}" ({term.resource}) -> Mapped to field: "{term.target}"')


def _rule_line(rule: BusinessRule) -> str:
    return one_line(f'- "{rule.key}": Apply filter "{rule.condition}"')


def _correction_line(correction: Correction) -> str:
    """The document gives corrections no line in the prompt (S-31); this one names what and when."""
    when = f" ({correction.trigger.strip()})" if correction.trigger.strip() else ""
    return one_line(f'- "{correction.key}": {correction.instruction}{when}')
