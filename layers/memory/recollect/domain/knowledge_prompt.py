"""The sections that knowledge has in a prompt, byte for byte (S-31 to S-38)."""

from collections.abc import Sequence

from recollect.domain.knowledge import BusinessRule, Correction, Meanings, Term
from recollect.domain.rendering import one_line

SEMANTIC_MEMORY = "[Semantic Memory]\nThe following terms have special meanings in this database:"
BUSINESS_RULES = "[Business Rules]"
CORRECTIONS = "[Corrections]"


def render_knowledge(meanings: Meanings, *, corrections: bool = True) -> str | None:
    """Terms, rules and, where wanted, corrections; a section without entries is left out, None where all are (S-37).

    Whatever a value holds, its entry is one line: a line break becomes a space.
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
