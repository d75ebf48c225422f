"""What words mean: learned from what a user says (S-25 to S-29), resolved in a query (S-22 to S-24, S-30 to S-38).

A table of patterns finds what people say a word means; the text around it decides whether it is a statement: no
question, not denied, not supposed, not reported of somebody else. Every repetition is bounded, and no two can share
characters: an attempt at one place ends after some hundred steps. English only.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

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
    held_in,
)
from recollect.text.phrases import PhraseTree, Token, fold, is_word_character, one_line, phrase_tokens, tokens_of
from recollect.text.terms import ENGLISH_STOP_WORDS

Span: TypeAlias = tuple[int, int]

_SAME_QUOTES = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u2039\u203a\u02bc\uff07`\u00b4", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02\u300c\u300d\u300e\u300f", '"')
)
_NO_TERMS = ENGLISH_STOP_WORDS | {"way", "yes", "ok", "okay", "please", "sure"}
_NO_TARGETS = ENGLISH_STOP_WORDS | {
    "business", "nothing", "everything", "something", "anything", "well", "yes", "one", "someone", "everyone",
}  # fmt: skip
_IDENTIFIER = re.compile(r"\w*[_.]\w[\w.]*|[^\W\d_]+\d\w*|[a-z]+[A-Z]\w*")
_CLAUSE_ENDS = re.compile(
    r"\s{0,4}(?:$|[.,;:!)\n\r\u2026\u2013\u2014]|-\s"
    r"|(?:here|from now on|in (?:this|our|my)|not|and|but|please|for us)\b)"
)


def plain_quotes(text: str) -> str:
    """The text with every kind of quotation mark and apostrophe an ASCII one; positions stay."""
    return text.translate(_SAME_QUOTES)


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to say it. `explicit`: its words leave no doubt, so that a quoted plain word may mean a plain word."""

    expression: re.Pattern[str]
    explicit: bool

    def read(self, match: re.Match[str]) -> tuple[Span, Span] | None:
        """The spans of term and target; None where they can be neither."""
        term, target = _span(match, "term"), _span(match, "target")
        return (term, target) if self._is_term(match, term) and self._is_target(match, target) else None

    def _is_term(self, match: re.Match[str], span: Span) -> bool:
        words = match.string[slice(*span)].lower().split()
        return _quoted(match, "term") or (_whole(match, span) and not any(word in _NO_TERMS for word in words))

    def _is_target(self, match: re.Match[str], span: Span) -> bool:
        target = match.string[slice(*span)]
        named = match["noun"] is not None or match["kind"] is not None
        if not _quoted(match, "target"):
            if target.lower() in _NO_TARGETS or not _whole(match, span):
                return False
            return named or self._is_plain_target(match, target)
        return named or self._is_quoted_target(match, target)

    def _is_plain_target(self, match: re.Match[str], target: str) -> bool:
        surely_a_term = self.explicit and _quoted(match, "term")
        return _is_identifier(target) or (surely_a_term and _ends_clause(match))

    def _is_quoted_target(self, match: re.Match[str], target: str) -> bool:
        if self.explicit:
            return _quoted(match, "term") or not re.search(r"\s", target)
        one_word = _is_identifier(target) or (_quoted(match, "term") and not re.search(r"\s", target))
        return one_word and _ends_clause(match)


def _span(match: re.Match[str], what: str) -> Span:
    spans = (match.span(f"{what}_{form}") for form in ("double", "single", "bare"))
    return next(span for span in spans if span != (-1, -1))


def _quoted(match: re.Match[str], what: str) -> bool:
    return match[f"{what}_bare"] is None


def _whole(match: re.Match[str], span: Span) -> bool:
    neighbours = match.string[max(0, span[0] - 1) : span[0]] + match.string[span[1] : span[1] + 1]
    return not any(map(is_word_character, neighbours))


def _is_identifier(target: str) -> bool:
    return _IDENTIFIER.fullmatch(target) is not None


def _ends_clause(match: re.Match[str]) -> bool:
    return _CLAUSE_ENDS.match(match.string, match.end()) is not None


def _quotation(what: str) -> str:
    double = rf'"(?P<{what}_double>[^"\n\r]{{1,128}})"'
    single = rf"(?<!\w)'(?P<{what}_single>(?:[^'\n\r]|(?<=\w)'(?=\w)){{1,128}})'(?!\w)"
    return f"{double}|{single}"


_S = r"[ \t\u00a0]{1,3}"
_COMMA = r"[ \t]{0,3},?[ \t]{0,3}"
_NOUN = r"(?:field|column|attribute|property|table|store|collection|key|variable|metric)s?"
_WORD = r"\w[\w\-]{0,63}"
_A = rf"(?:(?:the|a|an|our|my){_S})?"
_THE_WORD = rf"(?:{_A}(?:word|term|name|phrase|expression){_S})?"
_TERM = rf"{_THE_WORD}(?:{_quotation('term')}|{_A}\b(?P<term_bare>{_WORD}(?:{_S}{_WORD}){{0,3}}?)\b)"
_MARKED_TERM = rf"{_THE_WORD}(?:{_quotation('term')}|(?<![\w.\-])(?P<term_bare>\w{{0,63}}_\w{{1,63}})\b)"
_FIRST_TERM = (
    rf"{_THE_WORD}(?:{_quotation('term')}|(?:(?<=[.,;:!?\n] )|(?<![\s\S])|(?<=\n)|(?<=\bthe ))(?P<term_bare>{_WORD})\b)"
)
_TARGET = (
    rf"{_A}(?:(?P<kind>{_NOUN}){_S}(?:(?:called|named){_S})?)?"
    rf"(?:{_quotation('target')}|\b(?P<target_bare>\w{{1,64}}(?:\.\w{{1,64}}){{0,4}})\b)(?:{_S}(?P<noun>{_NOUN})\b)?"
)
_I = r"\b(?:I|we)"
_REALLY = rf"(?:(?:really|actually|always|just|usually|simply|of course){_S})?"
_MEAN = rf"{_I}{_S}{_REALLY}(?:mean|meant){_S}"
_SAYING = r"(?:say|write|type|use|mention|ask for|ask about|talk about|speak of|refer to)"
_USE = rf"(?:{_MEAN}|(?:please{_S})?(?:use|take|look at){_S}|(?:it|that|this){_S}(?:means|is){_S})"
_IS = rf"is{_S}{_REALLY}(?:in fact{_S})?(?:(?:stored|kept|saved){_S}in{_S})?"
_MEANS = rf"(?:means|stands{_S}for|refers{_S}to|corresponds{_S}to|maps{_S}to)"
_ANOTHER_NAME = (
    rf"is{_S}(?:short{_S}for|(?:a{_S}synonym|an{_S}alias|another{_S}(?:word|name|term)|our{_S}(?:word|name|term))"
    rf"{_S}(?:for|of))"
)

_TABLE = (
    (rf"\bby{_S}{_TERM}{_COMMA}{_MEAN}{_TARGET}", True),
    (rf"\bwhen(?:ever)?{_S}{_I}{_S}{_SAYING}{_S}{_TERM}{_COMMA}(?:then{_S})?{_USE}{_TARGET}", True),
    (rf"\bwhat{_S}{_I}{_S}{_REALLY}(?:mean|meant){_S}by{_S}{_TERM}{_S}is{_S}{_TARGET}", True),
    (rf"{_MEAN}{_TARGET}{_COMMA}(?:by|with|when(?:ever)?{_S}{_I}{_S}{_SAYING}){_S}{_TERM}", True),
    (rf"\bno\b[ \t,.!:;\-\u2013\u2014]{{1,4}}{_TERM}{_S}{_IS}{_TARGET}", True),
    (rf"{_FIRST_TERM}{_S}{_REALLY}means{_S}{_TARGET}", False),
    (rf"{_MARKED_TERM}{_S}{_REALLY}{_MEANS}{_S}{_TARGET}", False),
    (rf"{_MARKED_TERM}{_S}{_ANOTHER_NAME}{_S}{_TARGET}", False),
    (rf"\b(?:treat|interpret|understand|map){_S}{_MARKED_TERM}{_S}(?:as|to){_S}{_TARGET}", False),
    (rf"{_MARKED_TERM}{_S}{_IS}the{_S}(?=[^\n]{{1,160}}\b{_NOUN}\b){_TARGET}", False),
)

PATTERNS = tuple(Pattern(re.compile(expression, re.IGNORECASE), explicit) for expression, explicit in _TABLE)
"""The ways to say it (S-25)."""


_CONCEPT_SEPARATORS = "_-\u2010\u2011"


@dataclass(frozen=True, slots=True)
class Commenting:
    """What comments name (S-30): rules that were applied, terms that were replaced."""

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
    """A resolved query. `filter` is None where none was given and no rule applies; lists are in order of mention."""

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

    Without a store only global entries hold. Raises nothing; the work grows with the text, not with the entries.
    """
    held = held_in(meanings, store or GLOBAL)
    replaced, replacements = _with_targets(text, held.terms)
    rules = _mentioned(replaced, held.rules)
    comments = (
        *(_term_comment(one) for one in replacements if commenting.terms),
        *(f"Applying learnt rule: '{one_line(rule.key)}'" for rule in rules if commenting.rules),
    )
    return Resolution(replaced, _joined(filter_text, rules), replacements, rules, comments)


def _with_targets(text: str, terms: Sequence[Term]) -> tuple[str, tuple[Replacement, ...]]:
    """Whole terms, in any case, the longest first; a target is not replaced again."""
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
    """Concepts as whole words; `_`, space and `-` are the same (S-23)."""
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
    given = [filter_text] if filter_text is not None and filter_text.strip() else []
    sides = [*given, *(rule.condition for rule in rules)]
    if not rules:
        return filter_text
    return sides[0] if len(sides) == 1 else " AND ".join(f"({side})" for side in sides)


def _term_comment(one: Replacement) -> str:
    return f"Applying learnt mapping: '{one_line(one.term)}' -> '{one_line(one.target)}'"


CONTEXT_LENGTH = 200
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
    before = _SENTENCE_BEGINS.split(plain[max(0, match.start() - CONTEXT_LENGTH) : match.start()])[-1].lower()
    clause = _CLAUSE_BEGINS.split(before)[-1]
    after = plain[match.end() : match.end() + CONTEXT_LENGTH]
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
    terms = sorted(meanings.terms, key=lambda term: (term.term, term.resource))
    sections = (
        _section(SEMANTIC_MEMORY, [_term_line(term) for term in terms]),
        _section(BUSINESS_RULES, [_rule_line(rule) for rule in sorted(meanings.rules, key=lambda rule: rule.key)]),
        _section(CORRECTIONS, [_correction_line(one) for one in meanings.corrections if corrections]),
    )
    return "\n\n".join(section for section in sections if section) or None


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
