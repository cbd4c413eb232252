"""The words that locales put beside a 12-hour clock, and what they do to the hour.

    rule_of("p. m.") → "pm"        so 3:07 p. m. is 15:07 and 12:10 p. m. is 12:10
    rule_of("凌晨")   → "am"        so 凌晨12:05 is 00:05
    rule_of("at night") → "night"  so 9:30 at night is 21:30 and 2:00 at night is 02:00

Most locales have two words; some phones (Chinese, Hindi, "in the afternoon") name the
part of the day instead.
"""

from __future__ import annotations

import re
from typing import Literal

import polars as pl

__all__ = ["AFTER", "BEFORE", "hour", "rule_of"]

HourRule = Literal["am", "pm", "noon", "night", ""]


def _phrases(table: str) -> list[str]:
    return [phrase.strip() for phrase in table.split("|")]


# Written without dots and spaces; the pattern below puts them back where they may stand.
_SHORT = {
    "am": _phrases("""
        am | a | ص | πμ | de | sa | öö | fm | ap | dop | дп | मपू | pg | vm | pd | ek | fh | rn |
        yb | to | قظ | vorm | проб
    """),
    "pm": _phrases("""
        pm | p | م | μμ | du | ch | ös | em | ip | odp | пп | मउ | ptg | nm | md | pk | eh | in |
        yh | tk | بظ | nachm | pop | слоб
    """),
}
_LONG = {
    "am": _phrases("""
        in the morning | morning | midnight | 上午 | 凌晨 | 清晨 | 早上 | 早晨 | 半夜 | 午夜 |
        午前 | 오전 | 새벽 | 아침 | 자정 | de la mañana | de la madrugada | da manhã |
        da madrugada | du matin | di mattina | morgens | vormittags | पूर्वाह्न | पूर्व | सुबह |
        सवेरे | পূর্বাহ্ণ | সকাল | முற்பகல் | காலை | పూర్వాహ్నం | ಪೂರ್ವಾಹ್ನ | ก่อนเที่ยง |
        לפנה״צ | לפנה"צ | בבוקר | صباحًا | صباحا | قبل‌ازظهر | قبل از ظهر | قبل دوپہر |
        przed południem | rano | утра | ранку | пре подне | преди обед | priekšp |
        priekšpusdienā | priešpiet | paradite | e paradites | pagi | sáng | ព្រឹក | နံနက် | ጥዋት |
        dopoledne | délelőtt | förmiddag | formiddag | aamupäivällä | sabah | ພາກເຊົ້າ
    """),
    "pm": _phrases("""
        in the afternoon | afternoon | in the evening | evening | 下午 | 午後 | 오후 | 傍晚 |
        黄昏 | 黃昏 | 晚上 | 夜晚 | 저녁 | de la tarde | da tarde | da noite | de la noche |
        de l’après-midi | de l'après-midi | du soir | di pomeriggio | nachmittags | abends |
        di sera | अपराह्न | अपर | दोपहर | शाम | অপরাহ্ণ | বিকাল | பிற்பகல் | மாலை | అపరాహ్నం |
        ಅಪರಾಹ್ನ | หลังเที่ยง | אחה״צ | אחה"צ | בערב | مساءً | مساء | بعدازظهر | بعد از ظهر |
        بعد دوپہر | po południu | дня | вечера | вечора | по подне | след обед | следобед | pēcp |
        pēcpusdienā | popiet | e pasdites | pasdite | petang | sore | chiều | tối | ល្ងាច | ညနေ |
        ከሰዓት | odpoledne | délután | eftermiddag | ettermiddag | iltapäivällä | akşam | ຫຼັງທ່ຽງ
    """),
    "noon": _phrases("noon | 中午 | 正午 | 낮 | 정오 | in the noon | del mediodía | trưa"),
    "night": _phrases("""
        at night | night | 夜里 | 夜間 | 深夜 | 夜中 | 밤 | रात | রাত | ночи | ночі | nachts |
        malam | đêm | di notte | w nocy | v noci
    """),
}
_SPACE = "[ \u00a0\u202f\u2009]"


def _key(word: str) -> str:
    return re.sub(r"[\s.\u200b-\u200f\u202a-\u202f\u2066-\u2069]", "", word).lower()


_RULES: dict[str, HourRule] = {
    _key(word): rule  # type: ignore[misc]
    for table in (_SHORT, _LONG)
    for rule, words in table.items()
    for word in words
}


def _alternatives(before: bool) -> str:
    long = [word for words in _LONG.values() for word in words]
    patterns = [
        re.escape(word).replace(r"\ ", f"{_SPACE}+") + r"\.?"
        for word in sorted(long, key=len, reverse=True)
    ]
    short = sorted((word for words in _SHORT.values() for word in words), key=len, reverse=True)
    # One letter stands alone only after the time ("3:07 م"); before it, it would be text.
    patterns += [
        rf"\.?{_SPACE}?".join(map(re.escape, word)) + r"\.?"
        for word in short
        if not before or len(word) > 1
    ]
    return "(?i:" + "|".join(patterns) + ")"


BEFORE = _alternatives(before=True)
AFTER = _alternatives(before=False)


def rule_of(word: str) -> HourRule:
    """What a word beside the time does to the hour; "" for none or an unknown one."""
    return _RULES.get(_key(word), "")


def hour(hours: pl.Expr, rule: pl.Expr) -> pl.Expr:
    """The hour of the day. Hours past 12 are already of a 24-hour clock and stay."""
    turned = (
        pl.when(rule == "am")
        .then(hours % 12)
        .when(rule == "pm")
        .then(hours % 12 + 12)
        .when(rule == "noon")
        .then(pl.when(hours >= 10).then(hours).otherwise(hours + 12))
        .when(rule == "night")
        .then(pl.when(hours % 12 < 6).then(hours % 12).otherwise(hours + 12))
        .otherwise(hours)
    )
    return pl.when(hours > 12).then(hours).otherwise(turned)
