"""Changes and retractions of short plain statements, where no attribute rule knows anything (P-24).

"Our home insurance is with Larkfield" and "We took our home insurance to Stonebridge": what both are about, what the
newer says anew and how it is said are each a piece of evidence; the rules have its weight. A newer value of a key, or
words of error beside a known value ("3317 is the fax, gave you the wrong one"), retract the older one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from recollect.contradictions.cues.claims import (
    FRAMES,
    HELD,
    HINT,
    MINE,
    OTHERS_OWN,
    SPEAKER,
    TOPIC,
    Claim,
    ClaimKind,
    Parsed,
    all_stems,
    all_words,
    asserts_all,
    clause_text,
    has_part,
    is_foreign,
    is_only_of_others,
    is_plain,
    is_short,
    known_words,
    may_share,
    noted,
    padded_words,
    span_words,
    weak_claims,
    word_stems,
)
from recollect.contradictions.cues.clauses import CueWords, blanked, content_stems, read_words, singular
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.judge import RelationKind
from recollect.text.terms import stem

_MAY = stem("may")
_MOST_COUNTED = 4
_MOST_SHARED = 3
_REACH = 3
_SHORT = 70
_IS = frozenset({"is", "are", "was", "were", "am"})
_DONE_TO = frozenset({"me", "us"})
_NOBODYS_THINGS = frozenset({"it", "that", "this", "there", "they", "nobody", "everything", "you"})
_ONCE = frozenset({"before", "until", "once", "first", "early", "age", "previous", "earlier", "had", "did"})
_TO = frozenset({"to", "onto", "for", "on", "with"})
_NOT = frozenset({"not", "no", "never", "don't", "isn't", "aren't", "doesn't", "dont", "isnt"})
_ALONE = frozenset({"only", "just"})
_LIST = re.compile(r",| and | & | plus | or ")
_Hit = tuple[RelationKind, Claim, Claim]


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two clauses with the stems of each that the other has, and what is left on either side."""

    old: Claim
    new: Claim
    shared: tuple[str, ...]
    fresh: tuple[str, ...]
    left: tuple[str, ...]
    nouns: tuple[str, ...]
    fields: frozenset[str]
    framed: bool


def changed_plainly(older: Parsed, newer: Parsed, rules: CueRules) -> Iterator[_Hit]:
    """The one plain clause of the older text, if there is evidence enough that the newer one says otherwise."""
    pair = closest(older, newer, rules)
    if pair is None or is_only_of_others(older, newer, rules):
        return
    found, new = evidence_of(pair, newer, rules), _bounded(pair.new, newer)
    if not _says_change(pair, older, newer, new, found, rules):
        return
    weights = rules.evidence["plain" if new.until is None else "bounded"]
    if weights and sum(weight * found[name] for name, weight in weights.items() if name in found) >= 0:
        yield _kind(pair, older, newer, found), pair.old, new


def _says_change(
    pair: _Pair, older: Parsed, newer: Parsed, new: Claim, found: Mapping[str, float], rules: CueRules
) -> bool:
    """Whether it denies the older one, or says that something has changed or for how long: more than another value."""
    text = padded_words(newer)
    if found["opposed"] or new.until is not None or _turns(pair, older, newer, rules):
        return True
    if any(found[name] for name in ("ended", "no_longer", "negated", "not")) or rules.words.has("lost_words", text):
        return True
    if not pair.left or rules.words.has("too_markers", text) or " other " in text:
        return False
    cued = pair.new.kind is not ClaimKind.STATE or bool(found["moved"] or found["begun"])
    told_of = any(one.attribute == "was" for one in weak_claims(newer))
    return cued or told_of or rules.words.has("now_markers", text) or bool(_ALONE & set(text.split()))


def _turns(pair: _Pair, older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Lovely, where it was hated; working, where it was broken."""
    return _valence(older, pair.old, rules) * _valence(newer, pair.new, rules) < 0


def _valence(said: Parsed, claim: Claim, rules: CueRules) -> int:
    """1 for a clause of something pleasant, -1 for the contrary, 0 for neither; a denial turns it round."""
    text = clause_text(said, claim)
    good, bad = rules.words.has("pleasant", text), rules.words.has("unpleasant", text)
    sign = int(good) - int(bad)
    return -1 if bad and good else sign if claim.kind in HELD or bad else -sign


def closest(older: Parsed, newer: Parsed, rules: CueRules) -> _Pair | None:
    """The two clauses that have the most in common; None where the texts are no plain statements of one speaker."""
    if not (is_plain(older) and is_short(newer, rules) and asserts_all(newer) and may_share(older, newer, rules)):
        return None
    pairs = [
        pair
        for new in weak_claims(newer)
        for old in weak_claims(older)
        if (pair := _compared(older, old, newer, new, rules)) is not None and _is_of_speaker(older, newer, new, rules)
    ]
    return max(pairs, key=_weight, default=None)


def _is_of_speaker(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """Whether it is of the speaker, of what the older text speaks of, or done to either; and not of what once was."""
    words = {word.lower().removesuffix("'s") for word in span_words(newer, new.span)}
    known = known_words(older)
    own = bool((MINE | SPEAKER) & words)
    if not own and any(one.subject in rules.words.persons - known for one in weak_claims(newer)):
        return False
    if new.until is not None and _stands_in(older, newer, new, rules):
        return True
    if is_foreign(older, newer, new, rules, _groups(older, newer, new, rules)):
        return False
    if new.attribute == "was" and _ONCE & set(padded_words(newer).split()):
        return False
    if {"keep", "leave"} & words - known or _is_done_by_another(older, newer, new, rules):
        return False
    if (rules.words.persons & words) - known and not _DONE_TO & words:
        return False
    if not set(new.subject.split()) <= known | _NOBODYS_THINGS:
        return bool(MINE & words)
    if own or new.attribute not in ("of", "was") or new.subject:
        return True
    return has_part(all_stems(older, rules), new.value.split()[0], rules)


def _is_done_by_another(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """My editor uses Twitter: somebody or something of the speaker's does it, of which the older text knows nothing."""
    words, stems = span_words(newer, new.span), word_stems(newer, new.span, rules)
    head = next((one for one in stems if one), "")
    opens = bool(words) and words[0].lower() in ("my", "our") and not has_part(all_stems(older, rules), head, rules)
    return opens and not any(_IS & {word.lower()} or word.lower().endswith("'s") for word in words)


def _stands_in(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """Jan's watering my plants until Friday: whoever it is, what is done is the speaker's, or as was said."""
    words, known = [word.lower() for word in span_words(newer, new.span)], all_stems(older, rules)
    owned = any(one in MINE and two.endswith("'s") for one, two in pairwise(words[2:]))
    if owned or OTHERS_OWN & set(words) - known_words(older):
        return False
    who = content_stems(new.subject.split(), rules.words)
    done = [one for one in new.value.split()[1:] if one not in who and one not in rules.time_stems]
    named = any(one.subject for one in weak_claims(older)) or bool(rules.words.persons & set(new.subject.split()))
    again = named and len(done) > 1 and all(has_part(known, one, rules) for one in done)
    return again or any(_is_owned(one, two, rules) for one, two in pairwise(words[2:]))


def _is_owned(owner: str, thing: str, rules: CueRules) -> bool:
    """Whether the speaker has it, and it is nobody."""
    return owner in ("my", "our") and not {thing, singular(thing)} & rules.words.persons


def _groups(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> frozenset[str]:
    """A club or a team is no owner where the clause begins with the speaker or with what the older text is about."""
    words = [word.lower() for word in span_words(newer, new.span) if word.lower() != "the"][:1]
    stems = word_stems(newer, new.span, rules)
    first = next((one for one in stems if one), "")
    own = bool((SPEAKER | MINE) & set(words)) or has_part(all_stems(older, rules), first, rules)
    begins = newer.text[: new.span[0]].rstrip()[-1:] in ("", ".", "!", ";")
    return rules.words.lists["groups"] if own and begins else frozenset()


def _weight(pair: _Pair) -> int:
    return 4 * len(pair.nouns) + 2 * len(pair.shared) + len(pair.fields) + pair.framed


def evidence_of(pair: _Pair, newer: Parsed, rules: CueRules) -> Mapping[str, float]:
    """Each piece of evidence with its value: 0 or 1, a share, a small count; `always` is where the sum begins."""
    old, new = pair.old, pair.new
    words = [word.lower() for word in span_words(newer, new.span)]
    text = padded_words(newer)
    opposed = (old.kind in HELD) != (new.kind in HELD)
    stems, lists = word_stems(newer, new.span, rules), rules.words.lists
    moving = lists["switch_verbs"] | lists["transfer_verbs"]
    return {
        "always": 1.0,
        "older_covered": len(pair.shared) / max(1, len(pair.shared) + len(pair.left)),
        "newer_covered": len(pair.shared) / max(1, len(pair.shared) + len(pair.fresh)),
        "same_frame": pair.framed,
        "one_field": bool(pair.fields),
        "no_word": not pair.shared,
        "two_nouns": len(pair.nouns) > 1,
        "no_noun": not pair.nouns,
        "fresh": min(_MOST_COUNTED, len(pair.fresh)),
        "left": min(_MOST_COUNTED, len(pair.left)),
        "same_opening": old.value.split()[:1] == new.value.split()[:1],
        "same_subject": old.subject == new.subject,
        "to_another": any(word in _TO and _near(stems, place, pair.fresh) for place, word in enumerate(words)),
        "opposed": opposed,
        "denied": opposed and not pair.fresh,
        "negated": new.kind is ClaimKind.END,
        "not": bool(_NOT & set(text.split())),
        "no_longer": rules.words.has("end_markers", text),
        "moved": any(rules.words.lemma(word) in moving for word in words),
        "ended": _has_topic(newer, pair, ClaimKind.END, rules),
        "begun": _has_topic(newer, pair, ClaimKind.CHANGE, rules),
        "taken_back": _has_retraction(newer),
        "amounts": _has_amount(pair.fresh) and _has_amount(pair.left),
        "short": len(newer.text) < _SHORT,
        "shared": min(_MOST_SHARED, sum(_names(one, rules) for one in pair.shared)),
        "fields": min(_MOST_SHARED, len(pair.fields)),
        "field_only": bool(pair.fields) and not pair.shared,
        "field_paused": bool(pair.fields) and not lists["pausing_words"].isdisjoint(words),
    }


def _compared(older: Parsed, old: Claim, newer: Parsed, new: Claim, rules: CueRules) -> _Pair | None:
    """The two with what they share; None without a word, a frame or a field in common."""
    if old.attribute == "was":
        return None
    ours, theirs = _told_stems(older, old, rules), _told_stems(newer, new, rules)
    shared = tuple(one for one in theirs if has_part(ours, one, rules))
    nouns = tuple(one for one in shared if one not in rules.no_noun_stems)
    fresh = tuple(one for one in theirs if one not in shared)
    left = tuple(one for one in ours if not has_part(theirs, one, rules))
    fields = _fields(left, rules) & _fields(fresh, rules)
    framed = bool(_frames(older, old) & _frames(newer, new))
    plain = any(one not in rules.time_stems and one != _MAY and not one.isdigit() for one in shared)
    return _Pair(old, new, shared, fresh, left, nouns, fields, framed) if plain or fields or framed else None


def _told_stems(said: Parsed, claim: Claim, rules: CueRules) -> tuple[str, ...]:
    return noted(said, ("plain stems", claim.value), rules, lambda: _without_idle(claim, rules))


def _without_idle(claim: Claim, rules: CueRules) -> tuple[str, ...]:
    return tuple(one for one in claim.value.split() if one not in rules.idle_stems)


def _fields(stems: Sequence[str], rules: CueRules) -> frozenset[str]:
    return frozenset(name for one in stems for name in rules.fields.get(one, ()))


def _frames(said: Parsed, claim: Claim) -> frozenset[tuple[str, str]]:
    """The frames of a clause: work on, sing in."""
    framed = (one for one in said.claims if one.rule in FRAMES and one.span == claim.span)
    return frozenset((one.subject, one.attribute) for one in framed)


def _near(stems: Sequence[str], place: int, wanted: Sequence[str]) -> bool:
    return any(one and one in wanted for one in stems[place + 1 : place + 1 + _REACH])


def _names(one: str, rules: CueRules) -> bool:
    return one not in rules.time_stems and not _has_amount((one,))


def _has_topic(newer: Parsed, pair: _Pair, kind: ClaimKind, rules: CueRules) -> bool:
    """Whether a rule of topics reads that something of the older clause ended, or begins."""
    topics = (one.value.split() for one in newer.claims if one.rule.startswith("topic.") and one.kind is kind)
    ours = pair.old.value.split()
    return any(has_part(ours, one, rules) for stems in topics for one in stems)


def _has_retraction(newer: Parsed) -> bool:
    return any(one.kind is ClaimKind.RETRACTION for one in newer.claims)


def _has_amount(stems: Sequence[str]) -> bool:
    return any(letter.isdigit() for one in stems for letter in one)


def _kind(pair: _Pair, older: Parsed, newer: Parsed, found: Mapping[str, float]) -> RelationKind:
    if _bounded(pair.new, newer).until is not None:
        return RelationKind.OVERRIDES
    if found["taken_back"]:
        return RelationKind.RETRACTS
    words = {word.lower() for word in all_words(newer)}
    some = found["negated"] or found["ended"] or bool(_ALONE & words)
    if some and pair.left and _LIST.search(older.text):
        return RelationKind.UNDECIDED
    return RelationKind.SUPERSEDES


def _bounded(new: Claim, newer: Parsed) -> Claim:
    """The clause, or the one of the text that sets a bound."""
    if new.until is not None:
        return new
    return next((one for one in weak_claims(newer) if one.until is not None), new)


_DEVICE = r"(?:account|phone|laptop|keyboard|tablet|ipad|computer|mobile|login)"
_SOMEBODY = r"(?:(?:my|our|the|a|an|his|her) (?:[\w'-]{1,20} ){1,3}?|some(?:one|body)(?: else)? |\w{2,20} )"
_IN_FUN = r"(?:joke|prank|dare|bet|laugh|test|wind-?up|trick|hoax|gag)"
_UNTRUE = (
    r"(?:rubbish|garbage|nonsense|baloney|bogus|fiction|fantasy|fake|false|untrue|incorrect|inaccurate|invented"
    r"|made up|wrong(?! to\b)"
    r"|an? (?:\w+ )?(?:lie|exaggeration|overstatement|embellishment|invention|error|fib|typo|slip|mistake|mix-?up"
    rf"|misprint|misreading|guess|fabrication|misdiagnosis|misunderstanding|{_IN_FUN})|legend"
    r"|hearsay)"
)
SAYS_SO = (
    rf"\b(?:that|this|it)(?:'s| was| is) {_SOMEBODY}(?:typing|talking|writing|texting|speaking|posting|messing"
    r"|fooling|playing"
    rf"|pretending|who (?:typed|wrote|said|sent|posted)|(?:on|with|using) my {_DEVICE})\b",
    r"\b(?:typed|wrote|sent|said|posted|entered|told you|put) (?:that|it|this)(?: one| bit)? (?:as"
    rf"|for) a (?:\w+ )?{_IN_FUN}\b",
    r"\b(?:keep(?: on)?|stop|done|tired of|sick of) (?:lying|pretending|making (?:that|it|this|things) up)\b"
    r"(?! (?:on|in|down|around|awake|low|here|there)\b)",
    r"\bno more (?:lies|fibs|lying|pretending)\b",
    r"(?:\band|,) ?(?:(?:it|i|we|he|she|they|that|there) )?never (?:was|were|did|could|had|have|has|(?:have|has) been)"
    r"(?: one| any| there| so| either)?\s{0,3}(?:\Z|[.,;!])",
    r"\b(?:it|that|there) never (?:was|were|has been|had been|did)\b",
    r"\bnever (?:existed|happened)\b|\b(?:doesn't|does not|don't|do not) (?:even )?exist\b",
    r"\b(?:only|just) (?:dreamt|dreamed|imagined) (?:it|that|this)\b|\bno such (?:thing|person|place|limit|rule)\b"
    r"|\bnothing of the sort\b",
    r"\b(?:scrap|ignore|bin|forget|disregard|delete|scratch|strike|drop|unsee|erase) (?:(?:all |everything )?(?:what"
    r"|that|the bit"
    r"|the thing|the part|anything) (?:i|we) (?:\w+ )?(?:said|told|wrote|typed|claimed|mentioned)|me saying|my saying)",
    r"\b(?:strike|scratch|scrap|delete|ignore|drop|forget) (?:the|my) (?:\w+ ){1,3}(?:claim|thing|bit|part|comment"
    r"|remark|entry)\b",
    r"\b(?:bin|scrap|scratch|strike|unsay) (?:it|that|this)\b(?=\s{0,3}(?:\Z|[.,;!]))",
    r"\bi(?:'d| had) (?:only |just )?(?:been )?(?:misread|mixed|mixing|confused|confusing|squint\w+|miscounted|misheard"
    r"|mistaken|gone and read|looking at the wrong|looked at the wrong)",
    r"\byou (?:really|actually) (?:bought|believed|fell for) (?:that|it|the)\b",
    r"\bi (?:gave|told|sent) you[^.;!?]{0,20}? (?:isn't|is not|wasn't|was not|was never) mine\b",
    r"\bno idea where i (?:got|plucked|pulled|had)\b|\bpretend i never\b|\bjump(?:ed|ing) the gun\b",
)
"""What was said before is no value: it was a joke, somebody else wrote it, it never was."""
EXPLAINED = (
    r"\b(?:sorry|sry|soz|apologies|apols|apologi[sz]e)(?: again)?,? (?:for (?!lying|misleading|misinforming|that\b"
    r"|confusing|getting"
    r"|the (?:mix|conf|error|mistake|wrong|misinf|typo|lie))|to (?:hear|bother|ask|interrupt|say|trouble|disturb|be"
    r"|keep)"
    r"|about (?:the|your|being|my)|if |it took|i(?:'m| am|'ve been| was) (?:so |very |running )?(?:late|slow|away"
    r"|busy|off)"
    r"|(?:i|we) (?:missed|forgot|took|had to|have to|can't|couldn't))",
    r"\b(?:feel(?:s|ing)?|felt|am|is|are|'m|'re) (?:so |really |very )?sorry for\b|\bsorry (?:state|sight)\b",
    r"\bmade up (?:with|my mind|our minds?|of|for|the (?:bed|room|time|guest|spare))\b",
    r"\b(?:don't|do not|never|can't|cannot|won't|i|i'll|you) (?:ever )?forget\b|\bforget (?:about|it|the (?:old"
    r"|previous|former))\b",
    r"\bignore (?!(?:my|that|it|this|what|the (?:last|previous|above|bit|part|thing|message|first)|anything"
    r"|everything|me|all)\b)",
    r"\bignore the noise\b|\b(?:from|up to) scratch\b|\bscratch (?:card|the surface|post|and)\b|\bstrike(?: again"
    r"|\s?[.,!])",
    r"\bstrikes? (?!(?:that|it|this|what|out|the|my)\b)|\b(?:on|a|the|train|tube|bus|rail|bin|teachers'?) strike\b",
    r"\bmixed (?!(?:up|it|that|them|the|those|something)\b)|\bconfused (?:by|about|why|how|as to)\b"
    r"|\bi'm (?:so )?confused\b",
    r"\b(?:nothing|what's|what is|something(?:'s| is)?|anything|goes?|went|going|gone) wrong\b|\bwrong (?:with"
    r"|side of)\b",
    r"\b(?:no|not|isn't|wasn't|aren't|never|i'm not|stopped|practical|running|inside) (?:a )?(?:joke|joking|kidding"
    r"|my fault)\b",
    r"\bmy bad \w|\bfalse (?:alarm|start|teeth|ceiling|nails)\b|\bwipe (?:the|down|my|his|her|your)\b",
)
"""A word that may take something back, with what it is about instead: nothing that was said."""
OVER = (
    r"\b(?:any ?more|no longer|any longer|stopp?(?:ed|ing)?|quit|gave up|given up|now|nowadays|these days|since|yet"
    r"|currently"
    r"|at the moment|used to|from now on|last (?:week|month|year|night)|yesterday|ago|no more|done with|went off"
    r"|gone off)\b",
    r"\b(?:cancel\w*|sold|fired|sacked|died|left(?! to (?:me|us))|divorced|separated|broke up|ran out|closed|expired"
    r"|lost|gave"
    r"|resigned|ended"
    r"|finished|dropped|got rid|moved|switched|swapped to|changed to|became|retired|graduated|recovered|outgrew)\b",
)
"""It was so, and is over."""
ADMITS = (
    r"\b(?:is|was|were|got (?:it|that|this)) (?:all )?wrong\b(?! to\b)|\b(?:correct(?:ed|s)|misquoted"
    r"|misinformed) me\b|\bimpress\b",
    r"\bwrong (?:\w+ )?(?:number|box|button|one|way|line|column|row|form|field|name|month|day|date|year|page|file"
    r"|chart|person|patient)\b",
    r"\b(?:answered|filled|wrote|typed|replied|responded)\b[^.;!?]{0,25} for me\b|\b(?:lol|haha|hehe),? no\b"
    r"|\bplaying with (?:the|my)\b",
    r"\b(?:that|it|this)(?:'s| is| was) (?:(?:my|our|the|his|her|a) [\w' ]{0,30}(?:'s|s')\s|what the\b)|\b(?:that|it"
    r"|this)(?:'s| is| was)"
    r" (?:my|our) \w+'s\b",
    r"\b(?:own(?:ing)? up|com(?:e|ing) clean|admit(?:ting)?|confess(?:ion)?|straight with you|truth(?:ful)?|by accident"
    r"|accidentally|wires crossed|misprint|mistake|incorrect|untrue|confus\w{2,4}|mix(?:ed|ing) (?:it|that"
    r"|them|things|up)"
    r"|(?:looked|checked|read it) again|double[- ]checked|full disclosure|cards on the table|pretend\w{0,3}|rubbish"
    r"|garbage"
    r"|(?:other|wrong|different) (?:chat|thread|window|person|conversation)|slip|gag|testing|unfairly|phishing"
    r"|namesake|legend"
    rf"|(?:using|on|had|got|took|nicked|stole|grabbed|hijacked|borrowed|got hold of|hacked) (?:this|my) {_DEVICE}"
    r"|(?:sent|wrote|typed|said|posted|entered) (?:that|it|this)(?!'| is\b| was\b| would\b| will\b)"
    r"|why i (?:said|wrote|typed|claimed)|where (?:that|you) (?:came|got)|as (?:we|i) found out"
    r"|(?:test|kit|scan|results?|records?|paperwork|certificate|x-?ray) (?:says?|said|shows?|showed|came back"
    r"|confirmed)"
    r"|(?:don't|do not) (?:note|write|save|store|record|keep) that|(?:take|strike) (?:that|it) off|(?:remove"
    r"|delete) that"
    r"|made (?:it|that) up|never (?:said|claimed)|wishful|jok(?:e|ing)|kidding|prank|teasing|lie|lied|lying|fib"
    r"|fibbed|bluff\w{0,3}"
    r"|such)\b",
    r"\b(?:i|we)(?:'d|'ve| had| have| was| were| must have)?(?: only| just| actually| been| gone and| probably"
    r"| clearly){0,2}"
    r" (?:thinking|looking|reading|going by|thought|assum\w+|guess\w*|believed|figured|imagin\w+|dreamt|dreamed|read"
    r"|looked"
    r"|checked|squint\w+|copied|pasted|mis[a-z]{3,}|heard|counted|pretend\w*|test\w+|teas\w+|invent\w+|exaggerat\w+"
    r"|blam\w+"
    r"|applied|meant|wanted to (?:sound|look|seem|impress|see|fit|be)|rounded|overstat\w+|bragg\w+|remember\w*"
    r"|recall\w*"
    r"|jumped|typed|wrote|said(?! (?:no|yes|goodbye)\b)|told|entered|mixed|confus\w+)\b",
    r"\b(?:had |'d )?(?:swapped (?:the|my|our|two)|mixed up|misheard|misread|misprinted|mislabell?ed|mistyped"
    r"|autocorrected)\b",
)
"""Beside a denial: how what was not so came to be said."""
DENIES = (r"\b(?:no|not|never|none|neither|nor|nothing|nobody|dont|isnt|arent|havent|without|cannot)\b|n't\b",)
STANDS_FOR_IT = (r"\b(?:it|that|this|one|ones|there|any|so|either|such)\b",)
NEEDS_DENIAL = (r"\b(?:truth is|full disclosure|confession|cards on the table|come clean)\b",)
"""Admits something, and maybe only what has changed."""
WAS_NOT = (
    r"\b(?:belong(?:s|ed)|intended|meant|addressed) (?:to|for) (?:(?:some |an)?other|some(?:one|body)|a namesake"
    r"|the neighbours?)",
    r"\b(?:wasn't|weren't|was not|were not)(?! \w+(?:ed|en)\b)",
    r"\b(?:was|were) never\b|\bnever (?:was|were|had|been|owned|held|did|\w{2,}ed)\b",
)
CALLED_UNTRUE = (
    rf"(?P<what>(?:[\w.-]+ ){{1,6}})(?:is|was|were)(?: just| only| all| complete| total| pure| utter)? {_UNTRUE}\b",
)
"""With what is called so."""
NEVER_DONE = (r"\bnever (?:actually |really |even |ever )?(?P<verb>\w+)",)


_WITHIN = 2000
"""Characters of a value that are read: further on it says something else."""
_NEAR = (20, 30)
"""Characters before and behind a word that may take something back, in which its explanation is looked for."""
_PRONOUNS = frozenset(["that", "it", "this", "which"])


def takes_back(older: str, newer: Parsed, words: CueWords) -> bool:
    """Whether its words take back the older value of its key, whatever that was; `words` are the tenant's."""
    if not noted(newer, "may take back", None, lambda: _may_take_back(newer)):
        return False
    text = blanked(newer.text[:_WITHIN])
    told = _pattern(EXPLAINED).sub(" ", text)
    if _has(SAYS_SO, told) or _says_it_was_not(older, text, words):
        return True
    return (_denies(older, text, words) and _admits(told, words)) or _has_cue(newer, text)


def _may_take_back(newer: Parsed) -> bool:
    """Whether anything in it is a sign at all: so that most texts are read once, whatever they are held against."""
    text = blanked(newer.text[:_WITHIN])
    if text.rstrip().endswith("?"):
        return False
    signs = (NEVER_DONE, WAS_NOT, DENIES)
    told = _pattern(EXPLAINED).sub(" ", text)
    called = _has(CALLED_UNTRUE, newer.text) or _has(CALLED_UNTRUE, text.replace("'s ", " is "))
    return called or _has(SAYS_SO, told) or any(_has(sign, text) for sign in signs) or _has_cue(newer, text)


def _says_it_was_not(older: str, newer: str, words: CueWords) -> bool:
    """ "It wasn't a first", "44 was a mistake": what the older value says, denied of the past, and not as over."""
    known = _stems(older, words)
    never = _pattern(NEVER_DONE).search(newer)
    if never is not None and not known.isdisjoint(_stems(never["verb"], words)):
        return True
    if _has(OVER, newer):
        return False
    if _has(WAS_NOT, newer) and not known.isdisjoint(_stems(newer, words)):
        return True
    called = _pattern(CALLED_UNTRUE).search(newer.replace("'s ", " is "))
    what = called["what"].lower() if called is not None else ""
    return bool(_PRONOUNS & set(what.split()[-1:])) or not known.isdisjoint(_stems(what, words))


def _denies(older: str, newer: str, words: CueWords) -> bool:
    """Whether something is denied, not as over, in words of the older value or in a pronoun for it."""
    if not _has(DENIES, newer) or _has(OVER, newer):
        return False
    return _has(STANDS_FOR_IT, newer) or not _stems(older, words).isdisjoint(_stems(newer, words))


def _admits(told: str, words: CueWords) -> bool:
    """Whether it tells how what was not so came to be said: "I lied", "that was for the other chat"."""
    plain = " ".join(read_words(told)).lower()
    return _has(ADMITS, told) or words.has("retraction_cues", f" {plain} ")


def _has_cue(newer: Parsed, text: str) -> bool:
    """Whether a cue rule says so; a word that only hints at it counts where nothing has changed."""
    cues = [one for one in newer.claims if one.kind is ClaimKind.RETRACTION and not (one.value or one.subject)]
    changed = any(one.kind is ClaimKind.CHANGE and one.strong for one in newer.claims)
    return any(one.attribute != HINT or (not changed and _means_it(one, text)) for one in cues)


def _means_it(hint: Claim, text: str) -> bool:
    """Whether the word that may take something back does: nothing else explains it; what one admits is a denial."""
    near = text[max(0, hint.span[0] - _NEAR[0]) : hint.span[1] + _NEAR[1]]
    if _has(EXPLAINED, near):
        return False
    return not _has(NEEDS_DENIAL, near) or _has(DENIES, text)


def _stems(text: str, words: CueWords) -> frozenset[str]:
    return frozenset(content_stems((word.lower() for word in read_words(text[:_WITHIN])), words))


def _has(alternatives: tuple[str, ...], text: str) -> bool:
    return _pattern(alternatives).search(text) is not None


@cache
def _pattern(alternatives: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when the first text is read."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


_NOBODYS = frozenset({"it", "that", "this", "there", "nobody", "everything", "nothing", "one", "none", "you", "what"})
_OTHERS = frozenset({"he", "she", "his", "her", "their", "hers", "theirs", "him", "its"})
_PLANNED = re.compile(
    r" (?:going to|gonna|i'll|we'll|will|not that|not like|need to correct|about to|(?:was|is) (?:n't|not) wrong"
    r"|(?:i'd|we'd|i 'd|we 'd|had) (?:never|not) \w+|what (?:the|my|our) \w+ said) "
)
_QUOTED = re.compile(r"(?:^|\s)['\u2018][^'\u2019]{2,60}\w*['\u2019](?=[\s.,]|$).*['\u2019](?=[\s.,]|$)")
_CUES = ("retraction_cues", "retraction_hints")
_LONG_NUMBER = 2
_MOST_FRESH = 3
_LONG = 120
_Pairs = Iterator[tuple[Claim, Claim]]


def taken_back_plainly(older: Parsed, newer: Parsed, rules: CueRules) -> _Pairs:
    """The plain clauses that have a word of the newer text, which says that something was told wrongly."""
    if not (is_plain(older) and is_short(newer, rules) and may_share(older, newer, rules)) or _ends(newer, rules):
        return
    for old in weak_claims(older):
        named = [one for one in old.value.split() if _is_named(one, newer, rules)]
        new = _clause_with(named, older, newer, rules) if named else None
        if new is not None and _are_verbs(named, old, rules) and not _is_all_of_it(older, newer, new, rules):
            continue
        if new is not None and _takes_back(older, newer, rules) and not _is_of_more(older, newer, new, rules):
            yield old, new


def _are_verbs(named: Sequence[str], old: Claim, rules: CueRules) -> bool:
    """Whether it names no more than a verb of what has more to it: to marry."""
    return rules.verb_stems.issuperset(named) and not rules.verb_stems.issuperset(old.value.split())


def _is_all_of_it(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """Whether the clause denies no more than that, or is the one that takes it back: not "I can't play the harp"."""
    known, text = all_stems(older, rules), clause_text(newer, new)
    fresh = (one for one in word_stems(newer, new.span, rules) if one and not has_part(known, one, rules))
    if any(one not in rules.slight_stems | rules.retraction_stems for one in fresh):
        return False
    return new.kind is ClaimKind.END or any(rules.words.has(cues, text) for cues in _CUES)


def _is_of_more(older: Parsed, newer: Parsed, new: Claim, rules: CueRules) -> bool:
    """I've never placed an online sneaker order: a denial alone takes back no more than what it names."""
    if _is_cued(newer, rules) or _hints(newer, rules):
        return False
    known = all_stems(older, rules)
    fresh = [one for one in new.value.split() if one not in rules.verb_stems and not has_part(known, one, rules)]
    return len(fresh) > 1 or (bool(fresh) and len(newer.text) > _LONG)


def _takes_back(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    if not _is_own(older, newer, rules):
        return False
    return _is_sure(older, newer, rules) or bool(_denies_plain(newer) and _hints(newer, rules))


def _is_own(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Whether it is the speaker's own, and of nobody of whom the older text does not speak."""
    known = known_words(older)
    words = {word.lower() for word in all_words(newer)}
    if (_OTHERS & words) - known or _PLANNED.search(padded_words(newer)) or _QUOTED.search(newer.text):
        return False
    return not denies_of_others(older, newer, rules)


def denies_of_others(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Whether a clause that denies something has a subject of which the older text does not speak."""
    denials = noted(newer, "denials", None, lambda: [one for one in weak_claims(newer) if one.kind is ClaimKind.END])
    known = known_words(older) | _NOBODYS if denials else _NOBODYS
    for one in denials:
        if not set(one.subject.split()) <= known:
            return True
        things = one.value.split() if one.attribute == "of" else []
        if things and not has_part(all_stems(older, rules), things[0], rules):
            return True
    return False


def _is_sure(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Whether it says of what was told that it is wrong."""
    return noted(newer, "cued", rules, lambda: _is_cued(newer, rules)) or takes_back(older.text, newer, rules.words)


def _is_cued(newer: Parsed, rules: CueRules) -> bool:
    cued = any(one.kind is ClaimKind.RETRACTION and one.attribute == TOPIC for one in newer.claims)
    return cued or rules.words.has("retraction_cues", padded_words(newer)) or _hints(newer, rules) > 1


def _hints(newer: Parsed, rules: CueRules) -> int:
    """How many words of error or of telling it has."""
    phrases = rules.words.lists["retraction_hints"] | rules.words.lists["telling_words"]
    return noted(newer, "hints", rules, lambda: sum(f" {phrase} " in padded_words(newer) for phrase in phrases))


def _denies_plain(newer: Parsed) -> bool:
    denials = (ClaimKind.END, ClaimKind.RETRACTION)
    return any(one.kind in denials and one.attribute not in (TOPIC, HINT) for one in newer.claims)


def _ends(newer: Parsed, rules: CueRules) -> bool:
    return noted(newer, "ends", rules, lambda: _says_end(newer, rules))


def _says_end(newer: Parsed, rules: CueRules) -> bool:
    if any(one.until is not None for one in newer.claims):
        return True
    return rules.words.has("end_markers", padded_words(newer)) or rules.words.has(
        "instead_markers", padded_words(newer)
    )


def _is_named(stem: str, newer: Parsed, rules: CueRules) -> bool:
    plain = stem not in rules.slight_stems
    long = not stem.isdigit() or len(stem) >= _LONG_NUMBER
    return plain and long and has_part(all_stems(newer, rules), stem, rules)


def _clause_with(named: Sequence[str], older: Parsed, newer: Parsed, rules: CueRules) -> Claim | None:
    """The clause that names it and little else, and nobody of whom the older text does not speak."""
    others = rules.words.persons - known_words(older)
    for new in weak_claims(newer):
        stems = [one for one in word_stems(newer, new.span, rules) if one]
        fresh = [one for one in stems if not has_part(named, one, rules) and one not in rules.verb_stems]
        if len(fresh) < len(stems) and len(fresh) <= _MOST_FRESH:
            words = {word.lower().removesuffix("'s") for word in span_words(newer, new.span)}
            denied = new.kind is ClaimKind.END and bool(SPEAKER & words)
            return None if others & words and not denied else new
    return None
