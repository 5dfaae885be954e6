"""Words that ask more than they name: a passage can answer without them. Pure; above: analysis.

"How long is the warranty?" is answered by months. They are searched for like other words, and count
little in how much of the query a passage covers. Written as the analysis sees them.
"""

from __future__ import annotations

from functools import cache

_WORDS = {
    "en": """
        long longer often frequently big bigger large high tall wide deep heavy fast quick quickly
        soon late early old far easy possible able allowed available different
        kind kinds sort type types thing things something anything someone anyone everything
        mean means meaning happen happens happened explain describe show give given take takes taken
        turn put keep set find look see know think say says said go goes come
        call called exist exists include included start stop supported support supports
        difference purpose reason example examples question answer help way ways
        always never still ever currently now first last day
    """,
    "es": """
        largo larga tiempo veces frecuencia frecuente grande alto alta rápido pronto posible
        significa significan sirve sirven funciona funcionan tipo tipos cosa cosas explica explicar
        necesito necesita necesitan quiero quiere usar uso utilizar tengo tiene tienen tener
        puedo podemos hago dura duran tarda cuesta cada vez siempre nunca manera forma ejemplo
        diferencia
    """,
    "de": """
        lang lange länger oft häufig groß hoch schnell bald spät früh alt möglich verfügbar heißt
        bedeutet bedeuten funktioniert geht gehen gibt brauche braucht brauchen benötige benötigt
        nutzen nutze benutzen verwenden verwende mache machen macht tun dauert dauern
        art arten ding dinge etwas jemand immer nie beispiel unterschied erkläre erklären
        zeige zeigen finde finden bekomme bekommen unterstützt
    """,
    "fr": """
        longtemps temps souvent fréquence fois grand grande haut haute vite rapidement possible
        signifie veut dire sert servent fonctionne fonctionnent type types sorte chose choses
        besoin faut utiliser utilise dois puis peux pouvez dure durent prend
        toujours jamais manière façon exemple différence explique expliquer trouver trouve
    """,
    "it": """
        lungo lunga tempo spesso volte volta grande alto alta veloce possibile significa vuol dire
        serve servono funziona funzionano tipo tipi cosa cose bisogno devo posso usare uso
        dura durano sempre mai modo esempio differenza spiega spiegare trovare trovo
    """,
    "pt": """
        longo longa tempo vezes vez frequência grande alto alta rápido possível significa significam
        serve servem funciona funcionam tipo tipos coisa coisas preciso precisa usar uso utilizar
        posso devo dura duram leva sempre nunca maneira forma exemplo diferença explica explicar
    """,
    "nl": """
        lang vaak groot hoog snel mogelijk betekent werkt werken gebruik gebruiken nodig
        duurt duren doe doen maak maken krijg krijgen soort soorten ding dingen iets iemand
        altijd nooit voorbeeld verschil uitleggen vind vinden
    """,
    "sv": """
        länge ofta stor stort hög högt snabbt möjligt betyder fungerar använda använder behöver
        tar gör göra får sort typ sak saker något någon alltid aldrig exempel skillnad hitta
    """,
    "ru": """
        долго длится часто часов раз большой высокий быстро скоро можно нужно нужен нужна нужны
        значит означает работает работают использовать используется делать сделать получить
        вид тип вещь всегда никогда способ пример разница объясни найти стоит могу
    """,
}


@cache
def light_words(language: str) -> frozenset[str]:
    """Of a BCP 47 primary subtag; empty for a language without a list."""
    return frozenset(_WORDS.get(language, "").split())
