"""Questions for a price, which the same words without a price do not answer. Pure; above: pack."""

from __future__ import annotations

import regex

_ASKED = regex.compile(
    r"""(?xi)
    \b how \s+ much \b .* \b (cost|costs|charge|charges) \b | \b how \s+ expensive \b
    | \b what \s+ (do|does|did|will|would) \b .* \b cost \b
    | \b what('s | \s+ (is|are)) \s+ the \s+ (price|prices|pricing) \b
    | \b (was|wie \s* viel) \b .* \b (kostet|kosten) \b
    | \b cu[aá]nto \b .* \b (cuesta|cuestan|vale|valen) \b
    | \b combien \b .* \b co[uû]te (nt)? \b
    | \b quanto \b .* \b (costa|costano|custa|custam) \b
    | \b (wat | hoeveel) \b .* \b (kost|kosten) \b | \b vad \b .* \b kostar \b
    | \b сколько \b .* \b (стоит|стоят) \b
    """
)
_GIVEN = regex.compile(
    r"""(?xi)
    \p{Sc} | \b (
        euros? | dollars? | cents? | pounds? | pence | yen | yuan | rupees?
        | eur | usd | gbp | chf | kr | kronor | francs? | franken
        | free | gratis | kostenlos | gratuit\w* | gratuito | бесплатн\w*
        | pay | pays | paid | fees? | charges? | charged | priced? | prices | pricing | costs?
        | \w*kost(et|en|ar)? | \w*preise? | \w*gebühr(en)? | cuestan? | costes? | costos? | precios?
        | co[uû]t\w* | prix | tarif\w* | costano? | costa | prezz[oi] | custam? | custos? | preços?
        | \w*prijs | \w*prijzen | priset | pris | цен[аыуе] | стоимость | стоит | стоят | руб\w*
    ) \b
    """
)
READ = 300  # characters of a question: patterns with gaps take their time on long ones
MISSING = 0.4  # what is left of the confidence in a passage that gives none


def price_share(question: str, passage: str) -> float:
    """1.0, and less where the question asks for a price of which the passage says nothing."""
    asked = _ASKED.search(question[:READ])
    return MISSING if asked and not _GIVEN.search(passage) else 1.0
