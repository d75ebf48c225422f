"""One of several things that a plain statement lists, of which a newer text says something else (P-24).

"My go-to pizza is ham, mushroom and olives" and "olives are off my pizza": the rest stays, so that nobody but a person
can tell what the whole is now. Both are kept, with an open conflict.
"""

import re
from collections.abc import Iterator

from recollect.domain.claims import Claim, ClaimKind, Said
from recollect.domain.clauses import read_words
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.plain_statements import asserts_all, has_part, is_foreign, is_plain, is_short, told
from recollect.domain.told_words import noted, span_words, weak_claims, word_stems

_BETWEEN = re.compile(r",(?: and| or)? | and | & | plus | or ")
_JOINED = re.compile(r" and | & | plus | or ")
_LEAST_ITEMS = 2
_Pairs = Iterator[tuple[Claim, Claim]]


def item_changed(older: Said, newer: Said, rules: CueRules, *, surely: bool = False) -> _Pairs:
    """The clause that lists, and the one that says of some of it that it is no longer so.

    `surely`: another rule knows already that something has changed; of less than all of it, it is no whole then.
    """
    items = noted(older, "items", rules, lambda: _items(older, rules)) if is_plain(older) else ()
    if len(items) < _LEAST_ITEMS or not (is_short(newer, rules) and asserts_all(newer)):
        return
    for new in weak_claims(newer):
        stems = word_stems(newer, new.span, rules)
        named = [item for item in items if any(has_part(stems, one, rules) for one in item)]
        told_so = len(named) < len(items) if surely else _says_otherwise(newer, new, rules)
        if not named or not told_so or is_foreign(older, newer, new, rules):
            continue
        old = next(weak_claims(older), None)
        if old is not None:
            yield old, new


def _items(older: Said, rules: CueRules) -> tuple[tuple[str, ...], ...]:
    """The stems of each thing that is listed; of the first one those behind what all are about."""
    parts = [content_stems(read_words(part), rules.words) for part in _BETWEEN.split(older.text.strip(" ."))]
    single = sum(one.attribute in ("said", "of") for one in weak_claims(older)) < _LEAST_ITEMS
    listed = single and _JOINED.search(older.text) is not None
    return tuple(part[-2:] for part in parts if part) if listed and len(parts) > 1 else ()


def _says_otherwise(newer: Said, new: Claim, rules: CueRules) -> bool:
    words = [word.lower() for word in span_words(newer, new.span)]
    leaving = any(rules.words.lemma(word) in rules.words.lists["departing_verbs"] for word in words)
    marked = rules.words.has("lessening_words", told(newer)) or rules.words.has("end_markers", told(newer))
    denies = any(one.kind in (ClaimKind.END, ClaimKind.CHANGE) for one in newer.claims)
    return leaving or marked or denies
