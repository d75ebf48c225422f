"""Terms and concepts of a query made plain: first the direct match, then the context match (S-22 to S-24, S-30)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from recollect.domain.knowledge import GLOBAL, BusinessRule, Meanings, Term, held_in
from recollect.domain.phrase_tree import PhraseTree, Token, phrase_tokens, tokens_of
from recollect.domain.rendering import one_line

_CONCEPT_SEPARATORS = "_-\u2010\u2011"


@dataclass(frozen=True, slots=True)
class Commenting:
    """What comments tell of (S-30): rules that were applied, terms that were replaced."""

    rules: bool = True
    terms: bool = False


RULES_ALONE = Commenting()
"""The default (S-30)."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A term that was replaced, and how often."""

    key: str
    term: str
    target: str
    count: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """A query made plain. `filter` None where none was given and no rule applies; all lists in order of mention."""

    text: str
    filter: str | None
    replacements: tuple[Replacement, ...]
    rules: tuple[BusinessRule, ...]
    comments: tuple[str, ...]


def resolve(
    text: str,
    meanings: Meanings,
    store: str | None,
    filter_text: str | None = None,
    commenting: Commenting = RULES_ALONE,
) -> Resolution:
    """Replaces terms by their targets, then adds the conditions of the concepts that the new text mentions.

    Without a store only what is global holds. Raises nothing; the work grows with the text, not with the entries.
    """
    held = held_in(meanings, store or GLOBAL)
    replaced, replacements = _with_targets(text, held.terms)
    rules = _mentioned(replaced, held.rules)
    comments = [
        *(_term_comment(one) for one in replacements if commenting.terms),
        *(f"Applying learnt rule: '{one_line(rule.key)}'" for rule in rules if commenting.rules),
    ]
    return Resolution(replaced, _joined(filter_text, rules), replacements, rules, tuple(comments))


def _with_targets(text: str, terms: Sequence[Term]) -> tuple[str, tuple[Replacement, ...]]:
    """Each whole term, in any case, becomes its target; the longest first, and a target is not looked at again."""
    if not terms:
        return text, ()
    tree: PhraseTree[Term] = PhraseTree()
    for known in sorted(terms, key=lambda known: known.resource == GLOBAL):
        tree.enter(phrase_tokens(known.term), known)
    tokens, pieces, position = tokens_of(text), [], 0
    made: dict[str, Replacement] = {}
    while position < len(tokens):
        end, term = _longest(tree, tokens, position)
        pieces.append(text[tokens[position].start : tokens[end - 1].end] if term is None else one_line(term.target))
        if term is not None:
            _count(made, term)
        position = end
    return "".join(pieces), tuple(made.values())


def _longest(tree: PhraseTree[Term], tokens: Sequence[Token], position: int) -> tuple[int, Term | None]:
    end = position + 1
    found: Term | None = None
    for after, term in tree.found_at(tokens, position):
        end, found = after, term
    return end, found


def _count(made: dict[str, Replacement], term: Term) -> None:
    known = made.get(term.key) or Replacement(term.key, term.term, term.target, 0)
    made[term.key] = replace(known, count=known.count + 1)


def _mentioned(text: str, rules: Iterable[BusinessRule]) -> tuple[BusinessRule, ...]:
    """The rules whose concept stands in the text as whole words; `_`, space and `-` are the same (S-23)."""
    concepts = _by_concept(rules)
    if not concepts:
        return ()
    tree: PhraseTree[tuple[BusinessRule, ...]] = PhraseTree()
    for concept, same in concepts.items():
        tree.enter(phrase_tokens(concept, _CONCEPT_SEPARATORS), tuple(same))
    tokens = tokens_of(text, _CONCEPT_SEPARATORS)
    found = (rule for start in range(len(tokens)) for _, same in tree.found_at(tokens, start) for rule in same)
    return tuple(dict.fromkeys(found))


def _by_concept(rules: Iterable[BusinessRule]) -> dict[str, list[BusinessRule]]:
    """Rules whose keys differ in case or separators only are one concept, and all of them hold."""
    concepts: dict[str, list[BusinessRule]] = {}
    for rule in rules:
        concept = "".join(token.folded for token in phrase_tokens(rule.key, _CONCEPT_SEPARATORS))
        concepts.setdefault(concept, []).append(rule)
    return concepts


def _joined(filter_text: str | None, rules: Sequence[BusinessRule]) -> str | None:
    """Filter and conditions, as they are; where there are several, each in parentheses, all of them required."""
    given = [filter_text] if filter_text is not None and filter_text.strip() else []
    sides = [*given, *(rule.condition for rule in rules)]
    if not rules:
        return filter_text
    return sides[0] if len(sides) == 1 else " AND ".join(f"({side})" for side in sides)


def _term_comment(one: Replacement) -> str:
    return f"Applying learnt mapping: '{one_line(one.term)}' -> '{one_line(one.target)}'"
