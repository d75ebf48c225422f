"""How dates are said in many languages, as data: what today, last week and a month are called.

Left out are words that are something else in another language at least as often ("hier", "kal"). English relative
phrases are read by `date_phrases` itself, since they take numbers.
"""

from collections.abc import Mapping
from types import MappingProxyType

_RELATIVE = {
    "today": """
        heute | hoy | aujourd'hui | oggi | hoje | сегодня | bugün | bugun | 今天 | 今日 | 오늘 | اليوم | आज
    """,
    "yesterday": """
        gestern | ayer | ieri | ontem | вчера | dün | kecha | 昨天 | 昨日 | 어제 | أمس
    """,
    "last week": """
        letzte woche | letzter woche | vergangene woche | semana pasada | última semana | semaine dernière
        | semaine passée | settimana scorsa | scorsa settimana | semana passada | прошлой неделе | прошлую неделю
        | прошлая неделя | geçen hafta | o'tgan hafta | 上周 | 上週 | 上星期 | 先週 | 지난주 | 지난 주
        | الأسبوع الماضي | पिछले हफ्ते | पिछले सप्ताह
    """,
    "last month": """
        letzten monat | letzter monat | vergangenen monat | mes pasado | último mes | mois dernier | mois passé
        | mese scorso | scorso mese | mês passado | прошлом месяце | прошлый месяц | geçen ay | o'tgan oy | 上个月
        | 上個月 | 先月 | 지난달 | 지난 달 | الشهر الماضي | पिछले महीने
    """,
    "this week": """
        diese woche | dieser woche | esta semana | cette semaine | questa settimana | этой неделе | эту неделю
        | bu hafta | shu hafta | 本周 | 本週 | 这周 | 這週 | 今週 | 이번 주 | 이번주 | هذا الأسبوع | इस हफ्ते | इस सप्ताह
    """,
    "this month": """
        diesen monat | diesem monat | este mes | ce mois | questo mese | este mês | этом месяце | этот месяц | bu ay
        | shu oy | 本月 | 这个月 | 這個月 | 今月 | 이번 달 | 이번달 | هذا الشهر | इस महीने
    """,
}
_MONTHS = """
    january jan januar enero janvier gennaio janeiro января январь ocak yanvar
    february feb februar febrero février febbraio fevereiro февраля февраль şubat fevral
    march mar märz marzo mars março марта март mart
    april apr abril avril aprile апреля апрель nisan aprel
    may mai mayo maggio maio мая май mayıs
    june jun juni junio juin giugno junho июня июнь haziran iyun
    july jul juli julio juillet luglio julho июля июль temmuz iyul
    august aug agosto août августа август ağustos avgust
    september sept sep septiembre septembre settembre setembro сентября сентябрь eylül sentabr
    october oct oktober okt octubre octobre ottobre outubro октября октябрь ekim oktabr
    november nov noviembre novembre novembro ноября ноябрь kasım noyabr
    december dec dezember dez diciembre décembre dicembre dezembro декабря декабрь aralık dekabr
"""


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()).casefold() for phrase in text.split("|"))


RELATIVE_PHRASES: Mapping[str, str] = MappingProxyType(
    {phrase: meaning for meaning, text in _RELATIVE.items() for phrase in _phrases(text)}
)
"""Phrases without case, each with the English one that means the same."""

MONTHS: Mapping[str, int] = MappingProxyType(
    {
        name.casefold(): number
        for number, line in enumerate(_MONTHS.strip().splitlines(), start=1)
        for name in line.split()
    }
)
"""Names of months without case, and which of the twelve they are."""
