"""Topics of a list of memories: their keys and keywords, and the names that several of them have.

Which of a person's words are topics no list of words tells ("always", "please" and "tea" are equally common), but whom
and what they call by name does: a word that is written with a capital inside of sentences and never without, and of
writing without capitals a longest piece that several memories have and that has no word of grammar or date in it. What
has no such word stands under no topic.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from recollect.text.coming_dates import WEEKDAYS
from recollect.text.dates import MONTHS, RELATIVE_PHRASES
from recollect.text.terms import is_stop_word

NO_TOPIC: Final = ""
_CHARACTERS = 200
_LEAST_LETTERS = 3
_LEAST_MEMBERS = 2
_MOST_SHARE = 0.5
_LONGEST_PIECE = 4
_WORD: Final = re.compile(r"[^\W\d_]+")
_BEGINS: Final = re.compile(r"(?:^|[.!?…:;)(\n\"“„«–—-])\s*$")
_HAN: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]{2,}")
_KATAKANA: Final = re.compile(r"[\u30a1-\u30fa\u30fc]{3,}")
_HANGUL: Final = re.compile(r"[\uac00-\ud7a3]{2,}")
_NO_CASE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3]")
_GRAMMAR: Final = frozenset(
    "的了是在我你您他她它们們和与與有没沒不这這那哪吗嗎呢吧啦啊哦就都也要一二三四五六七八九十两兩百千万上下大小个個去到来來说說想得着著过過"
    "给給把被让讓会會能可以很好多少什么麼怎样樣幫帮天月日年点點半号號分周星期礼禮拜今明昨早晚前后後再还還已最又才只每次些里裡为為因所但从從"
    "对對用做人時时間间何方行見出入毎回書自気"
)
"""Characters of grammar, numbers and dates, which are in the pieces that many sentences have."""
_CAPITALS: Final = """
    new san saint mr mrs miss ms dr doc doctor prof professor sir madam mme mlle monsieur madame señor señora sr sra
    don doña signor signora herr frau doktor tag tage woche wochen monat monate jahr jahre uhr stunde stunden minute
    minuten zeit euro cent kilo gramm liter prozent ende anfang mitte mal
"""
"""Words with a capital that name nothing alone: forms of address, beginnings of names, German nouns of measure."""
_KOREAN: Final = "은 는 이 가 을 를 의 에 도 만 와 과 랑 이랑 로 으로 에서 에게 한테 하고 야 아 님 씨 네 보다 까지"
_PARTICLES: Final = frozenset(_KOREAN.split())
_NO_NAMES: Final = frozenset(_CAPITALS.split())


def by_topic(found: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Memories under their key, else under what most of them share, in the order of the names; then those of none."""
    keyed: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for memory in found:
        if memory.get("key"):
            keyed[str(memory["key"])].append(memory)
    rest = [memory for memory in found if not memory.get("key")]
    shared, without = _shared([(memory["content"][:_CHARACTERS], memory["keywords"]) for memory in rest])
    topics = [*keyed.items(), *((name, [rest[place] for place in places]) for name, places in shared)]
    alone = [(NO_TOPIC, [rest[place] for place in without])] if without else []
    return [*sorted(topics, key=lambda one: one[0].casefold()), *alone]


def _shared(texts: Sequence[tuple[str, Sequence[str]]]) -> tuple[list[tuple[str, list[int]]], list[int]]:
    """Topics with their places, each place in one, that of the most; and the places that are left."""
    words = _words(texts)
    candidates = _candidates(words)
    left, topics = frozenset(range(len(texts))), []
    while candidates:
        places, best = max(candidates.items(), key=lambda one: (len(one[0]), len(one[1]), one[1]))
        written = Counter(word for place in places for word in words[place] if word.casefold() == best)
        topics.append((max(written, key=lambda one: (written[one], one)), sorted(places)))
        left -= places
        candidates = _of_several((places & left, word) for places, word in candidates.items())
    return topics, sorted(left)


def _words(texts: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """Of each text what may name a topic."""
    said = [text for text, _ in texts]
    found = zip(texts, _names(said), _korean(said), strict=True)
    return [[*keywords, *names, *korean, *_without_case(text)] for (text, keywords), names, korean in found]


def _candidates(words: Sequence[Sequence[str]]) -> Mapping[frozenset[int], str]:
    """Words that several texts have, and not most of them, by the places of these."""
    found: dict[str, set[int]] = defaultdict(set)
    for place, of_one in enumerate(words):
        for word in of_one:
            found[word.casefold()].add(place)
    most = max(_LEAST_MEMBERS, _MOST_SHARE * len(words))
    return _of_several((frozenset(places), word) for word, places in found.items() if len(places) <= most)


def _of_several(found: Iterable[tuple[frozenset[int], str]]) -> dict[frozenset[int], str]:
    """Of the words that the same texts have the longest, where they are two at least."""
    longest: dict[frozenset[int], str] = {}
    for places, word in found:
        if len(places) >= _LEAST_MEMBERS:
            longest[places] = max(longest.get(places, ""), word, key=lambda one: (len(one), one))
    return longest


def _names(texts: Sequence[str]) -> list[list[str]]:
    """Of each text what is a name: somewhere with a capital inside of a sentence, nowhere without one."""
    written = [list(_written(text)) for text in texts]
    small = {word.casefold() for of_one in written for word, _ in of_one if not word[0].isupper()}
    inside = {word.casefold() for of_one in written for word, begins in of_one if word[0].isupper() and not begins}
    names = {word for word in inside - small if _names_something(word)}
    return [[word for word, _ in of_one if word.casefold() in names] for of_one in written]


def _written(text: str) -> Iterator[tuple[str, bool]]:
    """Words, and whether each begins a sentence; none of a text in capitals alone."""
    if text.isupper():
        return
    for match in _WORD.finditer(text):
        if len(match[0]) >= _LEAST_LETTERS and not _NO_CASE.search(match[0]):
            yield match[0], _BEGINS.search(text[max(0, match.start() - 4) : match.start()]) is not None


def _names_something(word: str) -> bool:
    own = {word, word.removesuffix("s")}
    return not (is_stop_word(word) or own & _NO_NAMES or any(one in MONTHS or one in WEEKDAYS for one in own))


def _without_case(text: str) -> Iterator[str]:
    """Pieces of a text in Chinese or Japanese, and whole words of katakana."""
    yield from _KATAKANA.findall(text)
    for run in _HAN.findall(text):
        yield from (piece for piece in _pieces(run) if _GRAMMAR.isdisjoint(piece) and not is_stop_word(piece))


def _korean(texts: Sequence[str]) -> list[list[str]]:
    """Of each text the Korean words that some text has with a particle behind them, as nouns are, without it."""
    written = [[_without_particles(word) for word in _HANGUL.findall(text)] for text in texts]
    nouns = {form for of_one in written for forms in of_one for form in forms[1:]}
    nouns = {form for form in nouns if not (is_stop_word(form) or form in RELATIVE_PHRASES)}
    return [[form for forms in of_one for form in forms if form in nouns] for of_one in written]


def _without_particles(word: str) -> list[str]:
    """A Korean word, and what it is without one or two particles behind it."""
    forms = [word]
    for _ in range(2):
        last = forms[-1]
        sizes = [len(one) for one in _PARTICLES if last.endswith(one) and len(last) > len(one) + 1]
        forms += [last[: -max(sizes)]] if sizes else []
    return forms


def _pieces(run: str) -> Iterable[str]:
    sizes = range(2, _LONGEST_PIECE + 1)
    return (run[start : start + size] for size in sizes for start in range(len(run) - size + 1))
