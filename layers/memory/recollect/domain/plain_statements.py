"""Short plain statements: texts so short that a word in common says that both are about one thing (P-24)."""

import re
from collections.abc import Collection, Iterator

from recollect.domain.claims import Claim, Said
from recollect.domain.clause_owners import is_of_others
from recollect.domain.cue_rules import CueRules
from recollect.domain.modality import is_remote
from recollect.domain.told_words import all_stems, all_words, has_stem, known_words, noted, span_words, weak_claims

FRAMES = ("verb.placed", "verb.frame")
_LONGEST_OLDER = 110
_LONGEST_NEWER = 170
_MOST_SENTENCES = 3
_LEAST_PART = 3
_SENTENCE_END = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bSt)[.!?\n]+(?=\s)")
_SAID_TO = frozenset({"you", "your", "you're", "yours"})
_TO_THE_ASSISTANT = re.compile(
    r"\byour (?:answer|repl|message|response|explanation|summar)|\bfrom you\b|\bto you\b|\byou (?:can|may|to)\b"
    r"|\b(?:call|remind|send|give|tell|talk to|speak to|write to) me\b",
    re.IGNORECASE,
)
_NAMELESS = frozenset({"it", "it's", "its", "them", "this"})
_TALK = frozenset(
    {
        "it", "it's", "that", "that's", "this", "yeah", "yes", "yep", "no", "wow", "thanks", "thank", "sure", "great",
        "ok", "okay", "hey", "hi", "hello", "sounds", "glad", "cool", "nice", "awesome", "true", "right", "definitely",
    }
)  # fmt: skip
_THIRD = frozenset({"he", "she", "him", "they", "them"})
_ANIMALS = frozenset({"dog", "cat", "horse", "pony", "rabbit", "puppy", "kitten", "hamster", "parrot", "tortoise"})
_WANTED = frozenset({"want", "wants", "wanna", "plan", "hope"})
_SUPPOSED = frozenset({"if", "would", "could", "might", "should", "wish", "unless", "whether", "suppose", "imagine"})
_OF_A_TIME = re.compile(
    r" (?:ago|when (?:i|we|my|he|she|they|the|that)|at age|one year|last year|years before|back then|growing up"
    r"|at the time|that year|those days|used to|as a (?:kid|child|boy|girl|student|teen)|the year|years back"
    r"|once(?! (?:a|an|every|i|we|the|more))|before (?:i|we|my|our)|at (?:school|our wedding)|in my \w+ days"
    r"|(?:in|at|on) (?:my|our) (?:last|old|previous|former|honeymoon)|in (?:[a-z]+ )?(?:19|20)\d\d|then) "
)
_NOT_TO_SAY = re.compile(r" should(?: n't| not|nt)? (?:have|'ve) (?:said|told|called|mentioned|written|claimed) ")
_INVERTED = (" had i ", " had we ", " were i ", " were we ")
_QUOTED = re.compile(r"[\"\u201c\u201d]")
_SPLIT = re.compile(r"[^a-z0-9]+")


def is_plain(older: Said) -> bool:
    """Whether it is one sentence that states something, of nobody it is said to, and of what it names itself."""
    return noted(older, "plain", None, lambda: _is_plain(older))


def _is_plain(older: Said) -> bool:
    text = older.text.strip()
    words = {word.lower() for word in all_words(older)}
    if {word.lower() for word in all_words(older)[:1]} & _TALK:
        return False
    if _NAMELESS & words:
        return False
    one = len(text) <= _LONGEST_OLDER and not _SENTENCE_END.search(text) and not {"!", "?"} & set(text.rstrip("!"))
    return one and (not _SAID_TO & words or _TO_THE_ASSISTANT.search(text) is not None)


def is_short(newer: Said, rules: CueRules) -> bool:
    """Whether it is short, with no question, condition, quotation or a time that is over."""
    return noted(newer, "short", rules, lambda: _is_short(newer, rules))


def _is_short(newer: Said, rules: CueRules) -> bool:
    if len(newer.text) > _LONGEST_NEWER or len(_SENTENCE_END.findall(newer.text)) >= _MOST_SENTENCES:
        return False
    if "?" in newer.text or _QUOTED.search(newer.text) or _OF_A_TIME.search(told(newer)):
        return False
    if is_remote(told(newer), rules.words) or told(newer).startswith(_INVERTED):
        return False
    return not _SUPPOSED & set(_NOT_TO_SAY.sub(" ", told(newer)).split())


def may_say_otherwise(newer: Said, rules: CueRules) -> bool:
    """Whether it can end a plain statement in words that no other rule knows: short, and no mere reply."""
    if not is_short(newer, rules) or not any(weak_claims(newer)):
        return False
    words = [word.lower() for word in all_words(newer)]
    to_another = _SAID_TO & set(words) and _TO_THE_ASSISTANT.search(newer.text) is None
    return not (to_another or set(words[:1]) & _TALK)


def told(said: Said) -> str:
    """The words of the text in lower case, with a space before and behind each."""
    return noted(said, "told", None, lambda: f" {' '.join(word.lower() for word in all_words(said))} ")


def asserts_all(newer: Said) -> bool:
    """Whether each of its clauses is asserted, or wanted."""
    return noted(newer, "asserts", None, lambda: _asserts_all(newer))


def _asserts_all(newer: Said) -> bool:
    return all(one.attribute != "meant" or is_wanted(newer, one) for one in weak_claims(newer))


def is_wanted(said: Said, one: Claim) -> bool:
    """Whether the clause says what somebody wants."""
    return bool(_WANTED & {word.lower() for word in span_words(said, one.span)})


def is_foreign(older: Said, newer: Said, new: Claim, rules: CueRules, also_known: frozenset[str] = frozenset()) -> bool:
    """Whether the clause is of somebody else; somebody of whom the older text speaks is "he" in the newer."""
    return is_of_others(older, newer, new, rules, _spoken_of(older, rules) | also_known)


def _spoken_of(older: Said, rules: CueRules) -> frozenset[str]:
    return _THIRD if known_words(older) & (rules.words.persons | _ANIMALS) else frozenset()


def may_share(older: Said, newer: Said, rules: CueRules) -> bool:
    """False where no word, part of a word, field or frame of theirs can be in common: most pairs end here."""
    return not _marks(older, rules).isdisjoint(_marks(newer, rules))


def _marks(said: Said, rules: CueRules) -> frozenset[str]:
    return noted(said, "marks", rules, lambda: frozenset(_read_marks(said, rules)))


def _read_marks(said: Said, rules: CueRules) -> Iterator[str]:
    """Of each stem its beginning, its end and its parts, as `has_part` compares them; and its fields and frames."""
    stems = {one for claim in weak_claims(said) for one in claim.value.split()} | all_stems(said, rules)
    for one in stems:
        yield from (f"^{other[:_LEAST_PART]}" for other in (one, *rules.related.get(one, ())))
        yield from (f"{one[-_LEAST_PART:]}$", f"={one}")
        yield from (f"={part}" for part in _SPLIT.split(one) if part)
        yield from (f"field {name}" for name in rules.fields.get(one, ()))
    for framed in frames(said):
        yield "frame " + "|".join(framed)


def frames(said: Said) -> frozenset[tuple[str, str]]:
    """The frames of a text's clauses, each with its subject: work on, sing in."""
    return frozenset((one.subject, one.attribute) for one in said.claims if one.rule in FRAMES)


def has_part(stems: Collection[str], one: str, rules: CueRules) -> bool:
    """As `has_stem`, and parts of words too: bees in beekeeping, peak in off-peak."""
    return has_stem(stems, one, rules) or any(_is_part(one, other) or _is_part(other, one) for other in stems)


def _is_part(one: str, other: str) -> bool:
    if len(one) < _LEAST_PART or len(other) < len(one) + 2:
        return False
    return other.startswith(one) or other.endswith(one) or one in _SPLIT.split(other)
