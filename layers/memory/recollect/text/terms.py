"""Words of a text and their weight: keywords (R-12 to R-18, P-6), stop words, stems, terms and BM25.

Keywords keep every word; terms are folded, stemmed and without English stop words, and feed BM25 with the statistics
of one scope, so that every engine gives one order. The stop lists of all languages decide only whether a query has
nothing but stop words (R-P18) and what counts as content in the match gate (P-15). They omit words that are stop words
in one language and more likely plain words or names in English (son, comment, war, hat, bin, come, AI, EU, Ben, Kim).

The Porter stemmer (1980) is our own: indexes store stems, which must not change with a release of a library.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from recollect.text.phrases import is_word_character

_WORDS = {
    "ar": """
        في من على إلى عن ما ماذا متى أين كيف لماذا هل هو هي أنا نحن أنت أنتم هم هذا هذه ذلك تلك كان كانت لا لم لن مع
        أو ثم التي الذي إن أن قد كل بين لي لك له و
    """,
    "de": """
        der die das dem des ein eine einer einem einen eines und oder aber nicht kein keine ist sind bist hast habe
        haben hatte hatten wird werden wurde kann können mein meine meinen meiner dein deine sein seine ihr ihre wir
        ich du er sie es mich mir dich dir uns euch ihm ihn von vom zu zum zur mit auf für im in am aus bei beim
        nach über um wie wo wann warum wer wen wem was welche welcher welches dass diese dieser dieses als auch noch
        nur so
    """,
    "en": """
        a about above after again against ain all am an and any are aren as at be because been before being below
        between both but by can cannot could couldn did didn do does doesn doing don down during each few for from
        further had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn
        it its itself just ll me might mightn more most must mustn my myself needn no nor not now of off on once
        only or other our ours ourselves out over own re same shall shan she should shouldn so some such than that
        the their theirs them themselves then there these they this those through to too under until up us ve very
        was wasn we were weren what when where which while who whom whose why will with would wouldn you your
        yours yourself yourselves
    """,
    "es": """
        el la los las un una unos unas de del al y o u pero que qué quién quiénes cuándo cuando dónde donde cómo
        como cuál cuáles cuánto cuánta por para con en es fue ser eres somos está estoy están mi mis tu tus su sus
        yo él ella nosotros ellos ellas me te se lo le les no sí si este esta esto ese esa eso hay he ha muy ya
    """,
    "fr": """
        le la les un une des du de au aux et ou où mais donc que quoi qui quand quel quelle quels quelles combien
        pourquoi je tu il elle on nous vous ils elles me te se mon ma mes tes ta sa ses notre nos votre vos leur
        leurs ce cet cette ces ne pas en dans sur avec sans par pour est suis es sommes êtes sont était étais été as
        a avons avez ont avait y ça là
    """,
    "hi": """
        है हैं था थे थी हूँ हूं का के की को में से पर और या क्या कब कहाँ कहां कैसे क्यों कौन मैं मैंने मुझे मेरा
        मेरी मेरे हम आप तुम वह यह ये वे नहीं भी तो ने हो कि एक
    """,
    "it": """
        il lo la gli le un uno una di da in con su per tra fra e o ma che chi cosa quando dove perché quale quali io
        tu lui lei noi voi loro mio mia miei mie tuo tua suo sua è sono sei siamo ho hai ha abbiamo hanno non del
        della dei delle degli nel nella al alla dalla questo questa quello quella si ci mi ti
    """,
    "ja": """
        は が を に の で と も か です ます 何 いつ どこ 誰 なぜ どう 私 私の これ それ あれ
    """,
    "ko": """
        은 는 이 가 을 를 에 의 도 무엇 뭐 언제 어디 누구 왜 어떻게 나 내 나의 너 그 저
    """,
    "pt": """
        o a as um uma uns umas de do da dos das no na nos nas em por para com e ou mas que quem quando onde como
        qual quais quanto tu ele ela nós eles elas você vocês me te se meu minha meus minhas seu sua é são foi está
        estou não sim este esta isso isto já
    """,
    "ru": """
        а без бы был была были было быть в вам вас ваш во вот все всё вы где да для до его ее её если есть еще ещё
        же за и из или им их к как какая какие какой какое когда кто куда ли мне меня мной мы мой моя моё мое мои на
        над нам нас наш не него нее нет ни но о об он она они оно от откуда по под почему при про с со сколько так
        там тебе тебя то того тоже только тот ты у уже чего чем что чтобы эта эти это этот я
    """,
    "tr": """
        ve veya bir bu şu o ne nasıl neden niçin nerede nereye hangi için ile mi mı mu mü sen biz siz onlar benim
        senin onun bizim var yok de da ki çok ama gibi daha
    """,
    "uz": """
        sen u biz siz ular mening sening uning bizning sizning ularning menga senga unga va bilan uchun bu shu nima
        qanday qachon qayerda qayerga qancha nega bor yo edi emas lekin yoki mi
    """,
    "zh": """
        的 了 是 在 我 你 他 她 它 们 我们 你们 他们 我的 你的 什么 怎么 怎样 哪里 哪儿 哪 谁 吗 呢 吧 和 与 有 没有
        不 这 那 为什么 多少 几 什麼 怎麼 誰 嗎 沒有
    """,
}

BY_LANGUAGE: Mapping[str, frozenset[str]] = MappingProxyType(
    {language: frozenset(words.split()) for language, words in _WORDS.items()}
)
ENGLISH_STOP_WORDS: frozenset[str] = BY_LANGUAGE["en"]
STOP_WORDS: frozenset[str] = frozenset().union(*BY_LANGUAGE.values())


_STEP_2: Mapping[str, str] = MappingProxyType(
    {
        "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able",
        "alli": "al", "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate",
        "alism": "al", "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive",
        "biliti": "ble",
    }
)  # fmt: skip
_STEP_3: Mapping[str, str] = MappingProxyType(
    {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
)
_STEP_4: Sequence[str] = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion",
    "al", "er", "ic", "ou",
)  # fmt: skip

_ASCII_WORD = re.compile("[A-Za-z0-9]+")

MAX_TERM_CHARACTERS = 64
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
K1 = 1.2
B = 0.75


def stem(word: str) -> str:
    """The stem of a lower-case word: `running` and `runs` give `run`. Non-ASCII words and two letters stay."""
    if len(word) <= 2 or not word.isascii() or not word.isalpha():
        return word
    word = _step_1c(_step_1b(_step_1a(word)))
    word = _replaced(_replaced(word, _STEP_2), _STEP_3)
    return _step_5(_step_4(word))


def _shape(word: str) -> str:
    """One letter per letter: v for a vowel, c for a consonant; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return len(re.findall("v+c", _shape(word)))


def _ends_cvc(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _step_1a(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word[: -len(suffix)]
        if word.endswith(suffix) and "v" in _shape(base):
            return _restored(base)
    return word


def _restored(base: str) -> str:
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and _shape(base)[-1] == "c" and base[-1] not in "lsz":
        return base[:-1]  # one of a double consonant
    return base + "e" if _measure(base) == 1 and _ends_cvc(base) else base


def _step_1c(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and "v" in _shape(word[:-1]) else word


def _replaced(word: str, endings: Mapping[str, str]) -> str:
    for suffix in sorted(endings, key=len, reverse=True):
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + endings[suffix] if _measure(base) > 0 else word
    return word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            fits = _measure(base) > 1 and (suffix != "ion" or base.endswith(("s", "t")))
            return base if fits else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        base = word[:-1]
        if _measure(base) > 1 or (_measure(base) == 1 and not _ends_cvc(base)):
            word = base
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word


def split_words(text: str) -> list[str]:
    """The words of the text as written: any character but a letter, digit or combining mark separates (R-12).

    Linear; every text is valid (R-P19).
    """
    if text.isascii():
        return _ASCII_WORD.findall(text)
    separators = {ord(character): " " for character in set(text) if not is_word_character(character)}
    return [piece for piece in text.translate(separators).split() if _has_letter_or_digit(piece)]


def extract_keywords(text: str) -> tuple[str, ...]:
    """Every word of the text in lower case, in order, with repetitions and without a limit.

    It removes no stop word and stems nothing (R-14, R-15), and drops only words under 2 UTF-8 bytes (P-6: "I" goes, the
    Russian "у" stays).
    """
    # Two UTF-8 bytes or more: only a single ASCII character has fewer.
    return tuple(word for word in map(str.lower, split_words(text)) if len(word) > 1 or not word.isascii())


def query_words(text: str) -> tuple[str, ...]:
    """The pieces of a raw query between spaces that have a letter or a digit: its length in words (R-P17)."""
    return tuple(word for word in text.split() if _has_letter_or_digit(word))


def is_stop_word(word: str) -> bool:
    """Whether the word is a stop word of some language (P-6: for fallback and match gate only)."""
    return word.lower() in STOP_WORDS


def _has_letter_or_digit(word: str) -> bool:
    return any(map(str.isalnum, word))


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """What BM25 needs of a scope: how many documents and terms it has, and how many documents have each query term."""

    documents: int
    total_terms: int
    document_frequency: Mapping[str, int]


def terms(text: str) -> list[str]:
    """The terms of a text in order: folded, stemmed, without English stop words; runs of CJK become bigrams."""
    found: list[str] = []
    for word in extract_keywords(text.casefold()):
        found.extend(_terms_of_word(word[: 4 * MAX_TERM_CHARACTERS]))
    return found


def query_terms(text: str, limit: int = 64) -> tuple[str, ...]:
    """The distinct terms of a query, at most `limit` of them."""
    return tuple(dict.fromkeys(terms(text)))[:limit]


@lru_cache(maxsize=65536)
def _terms_of_word(word: str) -> tuple[str, ...]:
    if _CJK.search(word) is None:
        return () if word in ENGLISH_STOP_WORDS else (stem(word)[:MAX_TERM_CHARACTERS],)
    found: list[str] = []
    position = 0
    for run in _CJK.finditer(word):
        found.extend(_terms_of_word(word[position : run.start()]) if run.start() > position else ())
        found.extend(_bigrams(run.group()))
        position = run.end()
    found.extend(_terms_of_word(word[position:]) if position < len(word) else ())
    return tuple(found)


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]


def inverse_document_frequency(statistics: TermStatistics, term: str) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)): never negative, largest for a term in no document."""
    count = min(statistics.document_frequency.get(term, 0), statistics.documents)
    return math.log(1 + (statistics.documents - count + 0.5) / (count + 0.5))


def bm25(statistics: TermStatistics, counts: Mapping[str, int], length: int, query: Sequence[str]) -> float:
    """The BM25 score (k1 1.2, b 0.75) of a document by its term counts and its length in terms."""
    return bm25_scores(statistics, [(counts, length)], query)[0]


def bm25_scores(
    statistics: TermStatistics, documents: Iterable[tuple[Mapping[str, int], int]], query: Sequence[str]
) -> list[float]:
    """The BM25 scores of documents, each given by term counts and length in terms."""
    average = (statistics.total_terms / statistics.documents if statistics.documents else 0.0) or 1.0
    weights = [(term, inverse_document_frequency(statistics, term) * (K1 + 1)) for term in query]
    return [_bm25(weights, counts, K1 * (1 - B + B * length / average)) for counts, length in documents]


def _bm25(weights: Sequence[tuple[str, float]], counts: Mapping[str, int], penalty: float) -> float:
    found = 0.0
    for term, weight in weights:
        if count := counts.get(term):
            found += weight * count / (count + penalty)
    return found
