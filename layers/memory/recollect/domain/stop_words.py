"""Small stop lists of many languages, as data.

For the keywords of a query they serve two decisions only: whether a query holds nothing but stop words (R-P18) and
what counts as a content keyword in the match gate (P-15). They never remove a keyword and enter no score there (P-6).

A word that is a stop word in one language and a plain content word or a name in English is left out where the English
reading is the likelier loss (son, comment, war, hat, man, men, bin, sin, ton, come, ham, soy, AI, EU, Ben, Kim).
"""

from collections.abc import Mapping
from types import MappingProxyType

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
