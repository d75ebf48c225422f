"""What a text says is to be forgotten, where it names that: "forget what I said about the hazelnut bush" (P-24)."""

import re
from collections.abc import Iterator, Sequence

from recollect.domain.claims import Said
from recollect.domain.clauses import read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.plain_statements import has_part
from recollect.domain.told_words import all_stems, noted

_WHAT = r" (?P<what>(?:[^.,;!?\n]|[.,](?=\S))+)"
_NAMED = tuple(
    re.compile(before + _WHAT, re.IGNORECASE)
    for before in (
        r"\b(?:forget|ignore|disregard|scratch|scrap|strike|never ?mind|take back|taking back|delete|erase|withdraw)",
        r"\b(?:wrong|mistaken|confused|mixed up) about",
        r"\b(?:mistake|error|typo|slip) (?:in|with|about|on)",
        r"\bwhat i (?:said|told you|mentioned|wrote)(?: \w+)? about",
    )
)
_CUT = frozenset({"and", "but", "because", "so", "that", "which", "is", "was", "were", "are", "isn't", "wasn't", "n't"})


def takes_back_another(older: Said, newer: Said, rules: CueRules) -> bool:
    """Whether it names what it takes back, and the older text has no word for a part of that."""
    topics = noted(newer, "named back", rules, lambda: tuple(_named(newer.text, rules)))
    return bool(topics) and not any(_speaks_of(older, stems, rules) for stems in topics)


def _named(text: str, rules: CueRules) -> Iterator[tuple[str, ...]]:
    """The stems of what is to be forgotten, without words of telling and a verb that it begins with."""
    for found in (found for pattern in _NAMED for found in pattern.finditer(text)):
        words = _told(read_words(found["what"]), rules)
        cut = next((place for place, word in enumerate(words) if word.lower() in _CUT), len(words))
        done = cut > 1 and rules.words.is_verb(words[0].lower())
        stems = content_stems(words[1 if done else 0 : cut], rules.words)
        named = tuple(one for one in stems if one not in rules.idle_stems | rules.time_stems)
        if named:
            yield named


def _told(words: Sequence[str], rules: CueRules) -> list[str]:
    """Without words of telling, but for what somebody or something has: the shelter's new address."""
    if any(word.endswith("'s") for word in words):
        return list(words)
    return [word for word in words if word.lower() not in rules.words.lists["telling_nouns"]]


def _speaks_of(older: Said, stems: Sequence[str], rules: CueRules) -> bool:
    known = all_stems(older, rules)
    attributes = {claim.attribute for claim in older.claims if claim.rule != "weak"}
    return all(has_part(known, one, rules) or rules.about.get(one, frozenset()) & attributes for one in stems)
