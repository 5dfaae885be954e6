"""Words that carry no topic of their own, for the languages that answers are given in. A leaf.

Above: followups. Lower case; languages are mixed, as a question does not say which it is in.
"""

from __future__ import annotations

# Point back at something said before. Strong ones nearly always do; weak ones often do not.
_STRONG = """
    he she they him her them his hers their theirs its those these ones
    él ella ellos ellas esos esas aquello eso
    er sie ihm ihn ihnen deren dessen davon dazu dafür damit darin darüber dies
    il elle ils elles lui leur leurs celui celle ceux celles cela ça
    он она оно они его её ему ей им их них него неё этом этого тот том
    هذا هذه ذلك تلك
"""
_WEAK = """
    it this that there here one
    este esta esto ese esa
    dort hier
    ce cet cette ces y en
    это этот эта эти там тут
"""
# Pronouns at the end of a question, articles elsewhere.
_WEAK_AT_END = "das dem lo la le les"
# Open a question that goes on from the one before.
_OPENINGS = """
    and but also or then so
    y pero también entonces
    und aber auch oder dann
    et mais aussi ou alors
    и а но также или тогда ещё
    و أو لكن ثم
"""
_EMPTY = """
    yes no please thanks thank you ok okay sure right well hello hi again more else example
    examples what which who whom whose when where why how much many often long a an the is are
    was were be been being am do does did done has have had can could will would shall should
    may might must of in on at to for from with by about into than as if not any some i me my we
    us our your tell say said show give explain please go continue mean means meant
    sí por favor gracias qué cuál cuáles quién cuándo dónde cómo cuánto cuántos el los las un
    una de del en con para sin sobre es son fue era hay ha se que su sus me mi más otro ejemplo
    ja nein bitte danke was wer wen wann wo warum wie wieso welche welcher welches der die den
    des ein eine einen einem einer ist sind war waren wird kann man von im in mit für zu auf an
    über nicht mehr noch beispiel
    oui non merci plaît quoi quel quelle quels qui quand où pourquoi comment combien que est
    sont était le les un une des du au aux avec pour sur dans pas plus encore exemple
    да нет пожалуйста спасибо что кто когда где почему как сколько какой какая какие чей зачем в
    на с по для о об из к у не ли есть был была были можно ещё пример
    نعم لا هو هي هم شكرا من ما ماذا متى أين كيف لماذا كم هل في على إلى عن مع
"""


def _words(*lists: str) -> frozenset[str]:
    return frozenset(word for words in lists for word in words.split())


STRONG = _words(_STRONG)
WEAK = _words(_WEAK)
WEAK_AT_END = _words(_WEAK_AT_END)
OPENINGS = _words(_OPENINGS)
EMPTY = _words(_STRONG, _WEAK, _WEAK_AT_END, _OPENINGS, _EMPTY)

# Chinese and Japanese are not written in words: the longest of these are taken out first.
_UNSPACED_BACK = """
    他们 她们 它们 这个 那个 这些 那些 他 她 它 这 那
    彼女 彼ら それら これら それ これ あれ その この あの 彼
"""
_UNSPACED_OPENINGS = "那么 还有 那 以及 而且 では じゃあ それで また そして"
_UNSPACED_EMPTY = """
    什么时候 为什么 怎么样 怎么办 多少 什么 怎么 如何 哪里 哪个 何时 谁 请问 请 谢谢 好的 可以
    是的 是 不 的 了 吗 呢 吧 啊 在 有 和 跟 对 也 都 就 例子 更多
    お願いします ありがとう ください でしょうか ですか ました ますか です ます でした どうして
    どうやって どのように どこ いつ なぜ 何 誰 どう はい いいえ もっと 例 は が を に の で と
    も か へ や
"""
UNSPACED_BACK = _words(_UNSPACED_BACK)
UNSPACED_OPENINGS = _words(_UNSPACED_OPENINGS)
UNSPACED_EMPTY = _words(_UNSPACED_BACK, _UNSPACED_OPENINGS, _UNSPACED_EMPTY)
