"""Other things, people and names than those of the older text: what they end is not its (P-24).

"My clothing budget is 90 euros" says nothing of the grocery budget, "My accountant's new email address" is not the
speaker's, and "I don't pay with Klarna any more" ends no PayPal.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from recollect.contradictions.cues.claims import (
    DETERMINERS,
    MINE,
    OWN,
    PLACED,
    SPEAKER,
    ClaimKind,
    Hit,
    NounPhrase,
    Parsed,
    Span,
    all_stems,
    all_words,
    clause_text,
    has_part,
    has_stem,
    known_words,
    noted,
    noun_phrases,
    span_words,
    weak_claims,
    word_stems,
)
from recollect.contradictions.cues.claims import is_only_of_others as tells_only_of_others
from recollect.contradictions.cues.clauses import alike, singular
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.judge import RelationKind
from recollect.text.terms import stem

_SELVES = frozenset({"work", "private", "personal", "home", "office", "business", "school", "company"})
_REASONS = frozenset({"because", "as", "since", "so", "while"})
_BEHIND_OBJECT = _REASONS | {"and", "until", "till", "for", "wish", "there", "too", "this", ","}
_FAVOURITE = (stem("favourite"),)
_WHITHER = re.compile(r" to (?:the |my )?(\w+) ")
_AT_WORK = frozenset({"work", "office", "job", "town", "school", "uni", "campus", "commute"})
_ALL = frozenset({"everything", "anything", "all"})
_FRAMED = frozenset({"weak", "topic.deny", "topic.no_longer", "excludes"})


def names_another_thing(hit: Hit) -> bool:
    """Whether it is of a thing with the same noun and another word before it: the budget review, the design review."""
    if hit.old.attribute == hit.new.attribute and hit.new.attribute in hit.rules.document["situations"]:
        return False  # its values are known: the words before the noun may be what tells them
    every = ClaimKind.END in (hit.old.kind, hit.new.kind) or (_leaves(hit) and not _moves(hit))
    return is_of_another_thing(hit.older, hit.newer, hit.new.span, hit.rules, every=every)


def is_of_another_thing(older: Parsed, newer: Parsed, span: Span, rules: CueRules, *, every: bool = False) -> bool:
    """The same of a part of the newer text; `every` thing counts, not only those of which something is said."""
    olds: Sequence[NounPhrase] = noun_phrases(older, (0, len(older.text)), rules)
    news = [one for one in noun_phrases(newer, span, rules) if every or one.is_topic]
    if every:
        olds, news = [_told_fully(one) for one in olds], [_told_fully(one) for one in news]
    if any((every or one.told_by[-1:] == _FAVOURITE) and _has_another_noun(one, olds, rules) for one in news):
        return True
    return any(_is_another(one, olds, older, newer, rules) for one in news)


def _told_fully(one: NounPhrase) -> NounPhrase:
    """A degree in physics is told from others by physics, where it ends."""
    return one if one.told_by else replace(one, told_by=one.told_in)


def _has_another_noun(one: NounPhrase, olds: Sequence[NounPhrase], rules: CueRules) -> bool:
    """The parish council, where the parish choir is meant; my favourite fruit, my favourite colour."""
    same = [old.noun for old in olds if one.told_by and old.told_by[-1:] == one.told_by[-1:]]
    named = not any(alike(one.noun, noun, rules.related) or noun in rules.vague_stems for noun in same)
    return bool(same) and named and not any(has_part((noun,), one.noun, rules) for noun in same)


def _is_another(one: NounPhrase, olds: Sequence[NounPhrase], older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """By the word closest to the noun, which neither text has for its own."""
    same = [old for old in olds if old.noun == one.noun]
    if not one.told_by or has_part(all_stems(older, rules), one.told_by[-1], rules):
        return False
    if one.is_group and (same or not MINE & known_words(newer)):
        return True
    if not same:
        return False
    told = all_stems(newer, rules)
    if not all(old.told_by and not has_part(told, old.told_by[-1], rules) for old in same):
        return False
    return not all(_is_same_sort(one, old, rules) for old in same)


def _is_same_sort(one: NounPhrase, old: NounPhrase, rules: CueRules) -> bool:
    """A phone number and a mobile number are one; a work address and a private one are not."""
    words = {stem(word) for word in rules.words.lists["personal_modifiers"] - _SELVES}
    return all(word in words for phrase in (one, old) for word in phrase.told_by)


def tells_of_another(hit: Hit) -> bool:
    """Whether both clauses name things, and none is the same: the bedroom and the living room."""
    return _differ(hit, opening=False)


def begins_with_another(hit: Hit) -> bool:
    """Whether both clauses begin with a thing, and not with the same: our server runs Debian, my laptop Fedora."""
    return (hit.is_weak or hit.new.rule.endswith(".values")) and _differ(hit, opening=True)


def differs_twice(hit: Hit) -> bool:
    """Whether what holds for a time is of another thing, and says something else of it: emails in English, notes in
    French."""
    framed = hit.is_weak or hit.new.rule.endswith(".held")
    if not framed or hit.kind is not RelationKind.OVERRIDES or not tells_of_another(hit):
        return False
    ours, theirs = (_told_beside(hit, said, span) for said, span in _sides(hit))
    rules = hit.rules
    return not all(has_part(theirs, one, rules) for one in ours) and not all(
        has_part(ours, one, rules) for one in theirs
    )


def _told_beside(hit: Hit, said: Parsed, span: Span) -> list[str]:
    """The stems of a clause beside the things that it names, its verbs and times."""
    named = {word for one, where in _sides(hit) for word in _named(one, where, hit.rules, opening=False)}
    skipped = named | hit.rules.time_stems | hit.rules.verb_stems | hit.rules.idle_stems
    return [one for one in word_stems(said, span, hit.rules) if one and one not in skipped and not one[:1].isdigit()]


def _sides(hit: Hit) -> tuple[tuple[Parsed, Span], tuple[Parsed, Span]]:
    return (hit.older, hit.old.span), (hit.newer, hit.new.span)


def _differ(hit: Hit, *, opening: bool) -> bool:
    ours, theirs = (_named(said, span, hit.rules, opening=opening) for said, span in _sides(hit))
    if not ours or not theirs:
        return False
    known, told = all_stems(hit.older, hit.rules), all_stems(hit.newer, hit.rules)
    shared = any(has_stem(known, one, hit.rules) for one in theirs) or any(
        has_stem(told, one, hit.rules) for one in ours
    )
    return not shared


def _named(said: Parsed, span: Span, rules: CueRules, *, opening: bool) -> list[str]:
    phrases = (one for one in noun_phrases(said, span, rules) if one.opens or not opening)
    things = (one for one in phrases if not one.noun[:1].isdigit() and one.noun not in rules.time_stems)
    return [word for one in things for word in (one.noun, *one.told_by)]


def ends_another_object(hit: Hit) -> bool:
    """I've stopped learning the ukulele: what is over shares with the older clause no more than what is done."""
    if hit.new.kind is not ClaimKind.END and not _leaves(hit):
        return False
    theirs = _nouns(hit, hit.newer, hit.new.span)
    if not _nouns(hit, hit.newer, hit.new.span, _end_of_object(hit)) or not _nouns(hit, hit.older, hit.old.span):
        return False
    known = [one for one in word_stems(hit.older, hit.old.span, hit.rules) if one]
    return not any(has_part(known, one, hit.rules) for one in theirs)


def _moves(hit: Hit) -> bool:
    words = (word.lower() for word in span_words(hit.newer, hit.new.span))
    return any(hit.rules.words.lemma(word) in hit.rules.words.lists["switch_verbs"] for word in words)


def _leaves(hit: Hit) -> bool:
    leaving = hit.rules.words.lists["departing_verbs"]
    words = (word.lower() for word in span_words(hit.newer, hit.new.span))
    return hit.is_weak and hit.new.until is None and any(hit.rules.words.lemma(word) in leaving for word in words)


def _nouns(hit: Hit, said: Parsed, span: Span, until: int | None = None) -> list[str]:
    """The stems of what a clause names: without what is done, how, and when."""
    words, stems = span_words(said, span), word_stems(said, span, hit.rules)
    return [stems[place] for place in range(len(words))[:until] if _is_noun(words, stems, place, hit.rules)]


def _end_of_object(hit: Hit) -> int:
    """Where a reason or a bound begins in the newer clause, or where something was moved to."""
    words = [word.lower() for word in span_words(hit.newer, hit.new.span)]
    ends = _BEHIND_OBJECT | {"to", "into"} if _moves(hit) else _BEHIND_OBJECT
    return next((place for place, word in enumerate(words) if word in ends), len(words))


def denies_another_value(hit: Hit) -> bool:
    """We are not deploying from the release branch until March: what is denied for a time is not what was said."""
    denied = hit.new.kind is ClaimKind.END and hit.new.rule in ("weak", "topic.deny")
    if not denied or hit.kind is not RelationKind.OVERRIDES or not _ALL.isdisjoint(known_words(hit.older)):
        return False
    known, end = all_stems(hit.older, hit.rules), _end_of_object(hit)
    numbers = [one for one in word_stems(hit.newer, hit.new.span, hit.rules)[:end] if one[:1].isdigit()]
    fresh = [*numbers, *_nouns(hit, hit.newer, hit.new.span, end)]
    return any(not has_part(known, one, hit.rules) for one in fresh)


def _is_noun(words: Sequence[str], stems: Sequence[str], place: int, rules: CueRules) -> bool:
    word, one = words[place].lower(), stems[place]
    if not one.isalpha() or one in rules.idle_stems | rules.time_stems | rules.slight_stems:
        return False
    if word in rules.words.lists["frame_adjectives"]:
        return False
    if (
        word.endswith("ing")
        and place + 1 < len(words)
        and words[place + 1].lower() in rules.words.lists["frame_adjectives"]
    ):
        return True
    before = words[max(0, place - 1)].lower()
    named = before in DETERMINERS or (before in PLACED and word.endswith("ing"))
    return named or not rules.words.is_verb(word)


def frames_another_object(hit: Hit) -> bool:
    """I get up at 6:30, I have breakfast at 7:15: one frame, and in it a thing that the older text does not name."""
    if hit.new.rule != "verb.frame" or hit.new.value_span is None or hit.new.until is not None:
        return False
    ours, theirs = hit.old.value.split(), hit.new.value.split()
    if any(one[:1].isdigit() for one in theirs) and not any(one in ours for one in theirs):
        return any(one.isalpha() for one in ours) and any(one.isalpha() for one in theirs)
    start, end = hit.new.value_span
    around = (hit.new.span[0], start), (end, hit.new.span[1])
    fresh = [one for span in around for one in _nouns(hit, hit.newer, span)]
    known = all_stems(hit.older, hit.rules)
    return any(not has_part(known, one, hit.rules) for one in fresh)


def only_frames_shared(hit: Hit) -> bool:
    """Whether the older text has what is denied only by a word that both clauses have beside it: no beer any more, of
    somebody who drinks coffee."""
    if hit.new.rule not in _FRAMED:
        return False
    known = all_stems(hit.older, hit.rules)
    told = set(word_stems(hit.newer, hit.new.span, hit.rules))
    skipped = known | hit.rules.idle_stems | hit.rules.verb_stems
    for one in (word for word in hit.new.value.split() if word not in skipped):
        meant = {other for other in known if alike(one, other, hit.rules.related)}
        if meant and meant <= told:
            return True
    return False


def tells_other_amounts(hit: Hit) -> bool:
    """75 mg of magnesium, 50 of sertraline: another thing with another number."""
    if not (hit.is_weak or hit.new.rule == "verb.frame"):
        return False
    ours, theirs = word_stems(hit.older, hit.old.span, hit.rules), _without_reasons(hit)
    numbers, others = ({one for one in stems if one[:1].isdigit()} for stems in (ours, theirs))
    if not numbers or not others or numbers & others:
        return False
    verbs, done = (hit.rules.verb_stems.intersection(stems) for stems in (ours, theirs))
    rules = hit.rules
    skipped = (rules.verb_stems, rules.idle_stems, rules.time_stems, rules.unit_stems, numbers, others)
    named, fresh = (
        [one for one in stems if one and not any(one in words for words in skipped)] for stems in (ours, theirs)
    )
    if not named:
        return bool(fresh and verbs and done) and not verbs & done
    return bool(fresh) and not any(has_part(named, one, hit.rules) for one in fresh)


def goes_elsewhere(hit: Hit) -> bool:
    """The tram to choir practice is no way to work."""
    if not hit.new.rule.startswith(("commute.", "way to work.")):
        return False
    found = _WHITHER.search(clause_text(hit.newer, hit.new))
    return found is not None and found[1] not in known_words(hit.older) | _AT_WORK


def takes_up_another(hit: Hit) -> bool:
    """I drink cola again, of somebody who drinks no alcohol: another object of what is done."""
    if not hit.is_weak or hit.old.kind is not ClaimKind.END or hit.new.kind is ClaimKind.END:
        return False
    ours, theirs = (_nouns(hit, said, span) for said, span in _sides(hit))
    return bool(ours and theirs) and not any(has_part(ours, one, hit.rules) for one in theirs)


def _without_reasons(hit: Hit) -> Sequence[str]:
    """The stems of the newer clause up to the word that begins a reason."""
    words = [word.lower() for word in span_words(hit.newer, hit.new.span)]
    end = next((place for place, word in enumerate(words) if word in _REASONS), len(words))
    return word_stems(hit.newer, hit.new.span, hit.rules)[:end]


_THEIRS = frozenset({"his", "her", "their", "its"})
_NOBODYS = frozenset({"it", "that", "this", "there", "they", "nobody", "everything", "you"})
_SAME = {"gp": "doctor", "gps": "doctor", "physio": "physiotherapist"}
_HEALERS = ("doctor", "ologist", "iatrist", "ician", "opath", "practor", "dentist", "therapist")
_SOME = re.compile(r"^ (?:half|some|most|many|part|none|two|three|one|both) of (?:my|our|the) ")
_TOGETHER = re.compile(r"([A-Z]\w+) and (?:I|me)\b")
_THEY_KIDDED = re.compile(r"(?:^|[.!?] )([A-Z][a-z]+) (?:was|is|were) (?:kidding|joking|lying|wrong|mistaken)\b")
_OF_ANYONE = (".values", ".held")
_OPENING = 4


def is_of_anothers(hit: Hit) -> bool:
    """My accountant's address: what the clause begins with belongs to somebody else."""
    words, known = _words(hit), known_words(hit.older)
    return any(_owns(words, place, known, hit.rules) for place in range(1, min(_OPENING, len(words) - 1)))


def _words(hit: Hit) -> list[str]:
    return [word.lower() for word in span_words(hit.newer, hit.new.span)]


def _owns(words: Sequence[str], place: int, known: frozenset[str], rules: CueRules) -> bool:
    owner, thing = words[place], words[place + 1]
    if not owner.endswith(("'s", "s'")) or words[place - 1] not in DETERMINERS | rules.words.plain:
        return False
    base = owner.removesuffix("'s").removesuffix("'")
    someone = rules.words.persons | rules.words.lists["titles"] | rules.words.lists["groups"]
    if {base, owner} & known or not {base, singular(base)} & someone:
        return False
    return _is_thing(thing, rules) and not thing.endswith("ing")


def _is_thing(word: str, rules: CueRules) -> bool:
    """Whether a word behind 's may be what somebody has, so that the 's is no "is"."""
    return word not in rules.words.after_is and word not in rules.words.adverbs


def is_only_of_others(hit: Hit) -> bool:
    """Jasmin is looking after a cat, so there's a cat in her flat: a text without a word of the speaker."""
    return hit.new.rule in ("topic.start", "topic.deny") and tells_only_of_others(hit.older, hit.newer, hit.rules)


def is_theirs(hit: Hit) -> bool:
    """His girlfriend, where the older text speaks of mine."""
    owned = {two for one, two in pairwise(clause_text(hit.newer, hit.new).split()) if one in _THEIRS}
    mine = {two for one, two in pairwise(word.lower() for word in all_words(hit.older)) if one in OWN}
    return bool(owned & mine) and not OWN & known_words(hit.newer)


def is_for_another(hit: Hit) -> bool:
    """No running for my training partner: whatever it is, it is so for them."""
    others, words = hit.rules.words.persons - known_words(hit.older), _words(hit)
    if SPEAKER.isdisjoint(known_words(hit.newer)):
        words = [word.lower() for word in all_words(hit.newer)]
    places = (place for place in range(len(words) - 2) if words[place] == "for" and words[place + 1] in DETERMINERS)
    return any(others & set(words[place + 2 : place + 4]) for place in places)


def is_done_together(hit: Hit) -> bool:
    """Noemi and I gave up our allotment: it says nothing of Noemi, unless that they part."""
    found = _TOGETHER.match(hit.newer.text[slice(*hit.new.span)].strip())
    parted = hit.rules.words.has("parting_words", clause_text(hit.newer, hit.new))
    return found is not None and found[1].lower() in known_words(hit.older) and _may_be_done(hit) and not parted


def _may_be_done(hit: Hit) -> bool:
    return hit.is_weak and hit.kind is not RelationKind.OVERRIDES


def is_taken_back_by_another(hit: Hit) -> bool:
    """Rosa was kidding: not the speaker."""
    found = _THEY_KIDDED.search(hit.newer.text)
    return found is not None and found[1].lower() not in known_words(hit.older) | hit.rules.words.plain


def is_of_some(hit: Hit) -> bool:
    """Half of my team: not the speaker."""
    return hit.is_weak and _SOME.search(clause_text(hit.newer, hit.new)) is not None


def is_told_to_another(hit: Hit) -> bool:
    """You can reach Sofie on that number, where the older text says how to reach me."""
    verbs = {one for one, two in pairwise(word.lower() for word in all_words(hit.older)) if two in ("me", "us")}
    known = known_words(hit.older)
    pairs = pairwise(span_words(hit.newer, hit.new.span))
    return any(one.lower() in verbs and two[:1].isupper() and two.lower() not in known | {"i"} for one, two in pairs)


def explains_another(hit: Hit) -> bool:
    """Mum has a new number, it's 07700 900456: "it" is of whom the clause before speaks."""
    words = [word for word in _words(hit) if word[:1].isalpha()]
    if words[:1] not in (["it"], ["that"], ["it's"]):
        return False
    others = hit.rules.words.persons - known_words(hit.older)
    before = [one for one in weak_claims(hit.newer) if one.span[0] < hit.new.span[0]]
    clauses = [replace(hit, new=one) for one in before]
    if any(others & set(one.new.subject.split()) for one in clauses):
        return True
    return any(is_of_anothers(one) or begins_with_another(replace(one, old=hit.old)) for one in clauses)


def is_of_another_owner(hit: Hit) -> bool:
    """My flatmate's favourite food, Karim's latte: what both texts name is somebody else's in the newer."""
    known = all_stems(hit.older, hit.rules)
    words, stems = span_words(hit.newer, hit.new.span), word_stems(hit.newer, hit.new.span, hit.rules)
    return any(
        _is_somebodys(words, place, hit) and stems[place + 1] in known and not words[place + 1].endswith("ing")
        for place in range(len(words) - 1)
    )


def _is_somebodys(words: Sequence[str], place: int, hit: Hit) -> bool:
    """Whether a word is the genitive of a person or a name that is new, and says no more than where or whither."""
    owner, known = words[place], known_words(hit.older)
    base = owner.removesuffix("'s").lower()
    if not owner.endswith("'s") or base in known | hit.rules.words.plain or not place:
        return False
    placed = {word.lower() for word in words[max(0, place - 2) : place]} & PLACED
    return (base in hit.rules.words.persons or owner[:1].isupper()) and not placed


def is_of_a_named_owner(hit: Hit) -> bool:
    """Ella's favourite band: of somebody by name."""
    known = known_words(hit.older) | hit.rules.words.plain
    pairs = pairwise(span_words(hit.newer, hit.new.span))
    return any(_is_name(owner, known) and _is_thing(thing.lower(), hit.rules) for owner, thing in pairs)


def _is_name(owner: str, known: frozenset[str]) -> bool:
    return owner.endswith("'s") and owner[:1].isupper() and owner.removesuffix("'s").lower() not in known


def is_done_to_another(hit: Hit) -> bool:
    """My doctor switched my son to another pill: what is done is done to somebody else; leaving a husband is not."""
    if hit.kind is RelationKind.RETRACTS:
        return False
    words, lists = _words(hit), hit.rules.words
    others = lists.persons - known_words(hit.older)
    return any(
        owner in OWN
        and whom in others
        and lists.is_finite(verb)
        and lists.lemma(verb) not in lists.lists["departing_verbs"]
        for verb, owner, whom in zip(words, words[1:], words[2:], strict=False)
    )


def is_denied_of_another(hit: Hit) -> bool:
    """My neighbour isn't walking the dog until Friday: then it is as it was."""
    denied = hit.new.kind is ClaimKind.END and hit.kind is RelationKind.OVERRIDES
    return denied and not set(hit.new.subject.split()) <= known_words(hit.older) | _NOBODYS


def is_by_another(hit: Hit) -> bool:
    """Our admin switched to KeePassXC: somebody else does it, and not for the speaker."""
    known_of = hit.rules.attributes.get(hit.new.attribute)
    of_anyone = hit.new.rule.endswith(_OF_ANYONE) or (known_of is not None and known_of.request)
    if hit.is_weak or hit.new.subject or not of_anyone:
        return False
    words, known = _words(hit), known_words(hit.older)
    if words[:1] == [] or words[0] not in OWN | {"the"} or (SPEAKER | MINE) & set(words[1:]):
        return False
    someone = hit.rules.words.persons | hit.rules.words.lists["titles"]
    return any({word, singular(word)} & someone and word not in known for word in words[1:_OPENING])


def has_another_role(hit: Hit) -> bool:
    """A new dermatologist is no new dentist: of both one has one."""
    ours = _roles(known_words(hit.older), hit.rules)
    theirs = _roles(known_words(hit.newer), hit.rules)
    return bool(ours and theirs) and not ours & theirs


def _roles(words: Iterable[str], rules: CueRules) -> frozenset[str]:
    unique = rules.words.lists["unique_persons"]
    named = (_SAME.get(word, singular(word)) for word in words)
    return frozenset(word for word in named if word in unique or word.endswith(_HEALERS))


_PARTS = frozenset({"and", "or", "but", "i", "we", "my", "our"})
_DENIALS = ("topic.no_longer", "topic.deny")


def ends_another_name(hit: Hit) -> bool:
    """Whether the clause denies or ends something by a name that the older does not have, which has one of its own."""
    return _ends(hit) and _differ_name(hit, placed=False)


def denies_of_another_name(hit: Hit) -> bool:
    """The same wherever the name stands, of what is plainly denied: with Klarna."""
    denied = hit.new.rule in _DENIALS or (hit.is_weak and hit.new.kind is ClaimKind.END)
    return denied and _differ_name(hit, placed=True)


def _differ_name(hit: Hit, *, placed: bool) -> bool:
    ours = _names(hit.older, hit.old.span, hit.rules, placed=True)
    theirs = _names(hit.newer, hit.new.span, hit.rules, placed=placed)
    return bool(ours and theirs) and not (ours & known_words(hit.newer) or theirs & known_words(hit.older))


def _ends(hit: Hit) -> bool:
    if hit.new.kind in (ClaimKind.END, ClaimKind.RETRACTION):
        return True
    if hit.new.exclusive or hit.new.until is not None:
        return False
    leaving = hit.rules.words.lists["departing_verbs"]
    return any(hit.rules.words.lemma(word) in leaving for word in clause_text(hit.newer, hit.new).split())


def _names(said: Parsed, span: Span, rules: CueRules, *, placed: bool) -> frozenset[str]:
    """The names in a clause; without `placed` none that says where, when, to or with whom."""
    skipped: frozenset[str] = frozenset() if placed else PLACED
    return noted(said, ("names", span, placed), rules, lambda: frozenset(_read(span_words(said, span), skipped, rules)))


def _read(words: Sequence[str], skipped: frozenset[str], rules: CueRules) -> Iterator[str]:
    behind_preposition = False
    for place, word in enumerate(words):
        low = word.lower()
        if low in skipped:
            behind_preposition = True
        elif word[:1].isupper() and place and low not in rules.words.plain and low[:2] != "i'":
            if not behind_preposition and low not in rules.words.lists["date_words"]:
                yield low.removesuffix("'s")
        elif low in _PARTS or rules.words.is_finite(low):
            behind_preposition = False
