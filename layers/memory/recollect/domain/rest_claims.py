"""What is left of a clause: the part that stays while another changes, and weak claims of all that it says (P-24)."""

from collections.abc import Iterator
from itertools import pairwise

from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.clause_reading import Reading
from recollect.domain.clauses import Clause
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems
from recollect.domain.modality import Modality, Mood, is_remote
from recollect.domain.predicates import Predicate


def kept_claims(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """Same job; still at Zalando; checking stays with ING: what stays, and behind "but" in the same clause what not."""
    words = [token.word for token in reading.clause.tokens if token.is_word]
    how, lists = reading.modality, rules.words.lists
    if (
        not (_keeps(words, rules) or _is_what_remains(reading, words))
        or (how is not None and not _holds(how, reading.predicate))
        or is_remote(f" {' '.join(words)} ", rules.words)
    ):
        return
    only = _is_what_remains(reading, words)
    cut = next((place for place, word in enumerate(words) if place and word in lists["kept_ends"]), len(words))
    cut = len(words) if only else cut
    kept = content_stems((word for word in words[:cut] if word not in lists["kept_words"]), rules.words)
    subject = reading.predicate.subject if reading.predicate is not None else reading.context
    named = next((token.word for token in reading.clause.tokens[1:2] if token.is_capital and words[0] == "the"), "")
    thing = reading.predicate.thing if reading.predicate is not None else ()
    rule = "part.same" if "same" in words[:2] else "part.kept"
    about = subject or named or " ".join(("the", *thing) if thing else ())
    if kept or not only:
        yield reading.claim("kept", (), ClaimKind.PARTIAL, rule, subject=about, value=" ".join(kept), strong=False)
    rest = content_stems(words if only else words[cut:], rules.words)
    if rest or only or len(words[cut + 1 :]) > 1:
        yield reading.claim("part", (), ClaimKind.CHANGE, "part.changed", value=" ".join(rest), strong=False)


def _is_what_remains(reading: Reading, words: list[str]) -> bool:
    """I only play guitar now: of what was said before the rest is over."""
    how = reading.modality
    if reading.until is not None:
        return False
    alone = {("only", "me"), ("just", "me"), ("only", "us"), ("just", "us"), ("by", "myself"), ("on", "own")}
    if alone & set(pairwise(word for word in words if word != "my")):
        return True
    return how is not None and how.now and words[:2] in (["i", "only"], ["we", "only"])


def _holds(how: Modality, said: Predicate | None) -> bool:
    lasting = how.mood is Mood.PRESENT or (said is not None and said.verb in ("keep", "change", "stay"))
    lasting = lasting or (said is not None and said.elided and "still" in said.clause.words[:1])
    return lasting and not (how.negated or how.ended or how.remote or how.mood in (Mood.PLAN, Mood.UNREAL))


def _keeps(words: list[str], rules: CueRules) -> bool:
    plain = rules.words.lists["kept_words"] | rules.words.adverbs | {"otherwise"}
    owned = any(one.endswith("'s") and two not in plain for one, two in pairwise(words[:5]))
    if words[0] == "the" and owned:
        return False
    text = f" {' '.join(words)} "
    if rules.words.has("not_kept_phrases", text):
        return False
    if rules.words.has("kept_phrases", text):
        return True
    if "same" in words[:3]:
        after = words[words.index("same") + 1 :][:1]
        return bool(after) and after[0] not in rules.words.lists["not_kept"]
    return bool(rules.words.lists["kept_words"] & set(words) - {"same"})


def weak_claim(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """All that a clause says, so that a topic can end it; of the past ("was"), or asked, planned and
    supposed ("meant"), only for a retraction. "said" is of a person, "of" of a thing, "bit" has no verb."""
    how = reading.modality
    words = [token.word for token in reading.clause.tokens if token.is_word and not reading.in_bound(token)]
    stems = content_stems(words, rules.words)
    text = f" {' '.join(reading.clause.words)} "
    if how is None:
        meant, past = (
            reading.unreal,
            is_remote(text, rules.words) or rules.words.has("remote_future", text.replace(" the next ", " ")),
        )
        past = (
            past or reading.clause.words[:2] == ["for", "my"] or bool({"was", "were"} & set(reading.clause.words[:3]))
        )
        negated = bool({"no", "not", "never", "nothing"} & set(reading.clause.words)) and not _is_new(
            reading.clause, rules
        )
    else:
        meant = reading.unreal or how.mood in (Mood.PLAN, Mood.UNREAL)
        past = how.mood is not Mood.PRESENT or how.remote
        negated = how.negated or how.ended
    kind = ClaimKind.END if negated else ClaimKind.STATE
    past = past or meant
    if not past and not negated and _is_new(reading.clause, rules):
        kind = ClaimKind.CHANGE
    bare = reading.predicate is None and len(stems) < 2 and reading.until is None
    if not stems or (bare and kind is not ClaimKind.CHANGE):
        return
    said = reading.predicate
    mine = {"my", "our", "me", "i", "we"} & set(reading.clause.words)
    inverted = said is not None and said.verb == "be"
    given = said is not None and said.words[:1] == ("me",)
    own = bool(mine) and (said is None or given or (inverted and said.subject not in rules.words.persons))
    moved = said is not None and how is not None and how.mood is Mood.PAST and _moves(said, rules)
    remote = how is not None and how.remote
    if moved and not (negated or remote or meant) and _is_new(reading.clause, rules):
        kind, past = ClaimKind.CHANGE, False
    kept = "bit" if said is None else "of" if said.thing else "said"
    yield reading.claim(
        "meant" if meant else "was" if past else kept,
        (),
        kind,
        "weak",
        subject="" if own else None,
        value=" ".join(dict.fromkeys((*content_stems(said.thing[-1:] if said else (), rules.words), *stems)))[:300],
        strong=False,
    )


def _moves(said: Predicate, rules: CueRules) -> bool:
    return said.verb in rules.words.lists["transfer_verbs"] | rules.words.lists["switch_verbs"]


def _is_new(clause: Clause, rules: CueRules) -> bool:
    """Whether it says so: "now", "new title", or "but …", "except …" before it."""
    words, openers = clause.words, rules.words.lists["part_openers"]
    joined = clause.joined.split()
    return (
        bool({"now", "instead", "nowadays"} & set(words))
        or words[0] in openers | {"new"}
        or bool(openers & set(joined))
    )
