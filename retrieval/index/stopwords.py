"""Function words that a *query* may lose; documents keep them. Pure data; above: analysis.

Written as the analysis sees them: case folded, without apostrophes ("don't" is "dont").
"""

from __future__ import annotations

from functools import cache

_WORDS = {
    "en": """
        a an the this that these those some any each every either neither both all no not nor
        i me my mine myself we us our ours ourselves you your yours yourself yourselves
        he him his himself she her hers herself it its itself they them their theirs themselves
        one ones who whom whose which what when where why how whether while whenever wherever
        am is are was were be been being do does did doing done have has had having
        can could shall should will would may might must ought need
        and or but if then else so because as than though although unless until since
        of in on at by to from for with without about into onto upon over under between among
        through during before after above below against within out off up down again further
        there here also too very just only own same such more most other another much many few
        im ive id ill youre youve youd youll hes shes weve theyre theyve theyd theyll
        isnt arent wasnt werent dont doesnt didnt cant cannot couldnt shouldnt wont wouldnt
        havent hasnt hadnt mustnt neednt lets thats whats wheres whos hows theres please
        get got let make made use used using want way work
        tell thank thanks hello hi hey
        """,
    "es": """
        el la los las lo un una unos unas al del de a ante bajo con contra desde durante en entre
        hacia hasta mediante para por según sin sobre tras y e o u ni que qué si sí no
        yo me mí tú te ti él ella ello ellos ellas le les se nos nosotros vosotros os usted ustedes
        mi mis tu tus su sus nuestro nuestra nuestros nuestras este esta esto estos estas ese esa
        eso esos esas aquel aquella aquello aquellos aquellas quien quién quienes quiénes cual cuál
        cuales cuáles cuando cuándo donde dónde como cómo cuanto cuánto cuanta cuánta cuantos
        cuántos cuantas cuántas porque pero sino aunque también ya muy más menos tan tanto todo
        toda todos todas otro otra otros otras mismo misma algo alguien algún alguno alguna
        es son era eran fue fueron ser sido siendo soy eres somos está están estaba estaban estar
        he has ha hemos han había habían haber hay hace hacer hizo puede pueden podía debe deben
        """,
    "de": """
        der die das den dem des ein eine einer einem einen eines kein keine keiner keinem keinen
        ich mich mir mein meine du dich dir dein deine er ihn ihm sein seine sie ihr ihre ihnen
        ihrer ihrem ihren es wir uns unser unsere euch euer eure man sich selbst wer wen wem wessen
        was welche welcher welches welchen welchem wann wo wohin woher warum wieso weshalb wie
        dieser diese dieses diesem diesen jener jene jenes jeder jede jedes alle allem allen aller
        und oder aber denn sondern doch wenn ob weil dass da damit als während obwohl bis seit
        in im an am auf aus bei beim mit nach von vom vor zu zum zur über unter zwischen durch für
        gegen ohne um ist sind war waren sein bin bist wird werden wurde wurden worden geworden hat
        habe haben hatte hatten kann können konnte konnten muss müssen soll sollen will wollen darf
        dürfen mag auch nicht nur noch schon sehr so mehr hier dort dann viel viele
        """,
    "fr": """
        le la les l un une des du de d à au aux en dans sur sous par pour avec sans chez vers entre
        contre depuis pendant avant après je j me m moi tu te t toi il elle on nous vous ils elles
        se s lui leur leurs eux y mon ma mes ton ta tes son sa ses notre nos votre vos ce c cet
        cette ces ceci cela ça qui que qu quoi quel quelle quels quelles dont où quand comment
        pourquoi combien lequel laquelle lesquels lesquelles est sont était étaient être été suis es
        sommes êtes fut furent a ai as avons avez ont avait avaient avoir eu et ou mais donc or ni
        car si ne n pas plus moins très aussi tout toute tous toutes autre autres même mêmes
        peut peuvent doit doivent fait faire estce questce
        """,
    "it": """
        il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle
        dell al allo alla ai agli alle all dal dallo dalla dai dagli dalle dall nel nello nella nei
        negli nelle nell sul sullo sulla sui sugli sulle sull io mi me tu ti te lui lei si noi ci
        voi vi loro mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro vostra questo
        questa questi queste quello quella quelli quelle che chi cui quale quali quando dove come
        perché quanto quanta quanti quante e ed o ma se né non più meno molto anche già ancora così
        è sono era erano essere stato stata stati sei siamo ha ho hai abbiamo hanno aveva avere può
        possono deve fa fare tutto tutti tutte altro altra altri
        """,
    "pt": """
        o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos
        pelas para com sem sobre sob entre até desde ao aos à às e ou mas nem que quê se não eu me
        mim tu te ti ele ela eles elas lhe lhes nós vós você vocês meu minha meus minhas teu tua seu
        sua seus suas nosso nossa este esta isto estes estas esse essa isso esses essas aquele
        aquela aquilo quem qual quais quando onde como quanto quanta quantos quantas porque porquê
        é são era eram foi foram ser sido está estão estava estar tem têm tinha ter há pode podem
        deve devem faz fazer também já muito mais menos tão todo toda todos todas outro outra
        """,
    "nl": """
        de het een der des den ik me mij mijn je jij jou jouw u uw hij hem zijn zij ze haar wij we
        ons onze jullie hun hen men zich wie wat welke welk waar wanneer waarom hoe dit dat deze die
        en of maar want dus als dan omdat terwijl in op aan bij met van voor naar over onder tussen
        door tegen zonder om uit te tot is ben bent was waren geweest word wordt worden werd werden
        heb hebt heeft hebben had hadden kan kunnen kon moet moeten mag zal zullen zou zouden wil
        niet geen ook nog al er hier daar zo zeer meer veel alle andere
        """,
    "sv": """
        en ett den det de dem dess jag mig min mitt mina du dig din ditt dina han honom hans hon
        henne hennes vi oss vår vårt våra ni er ert era man sig sin sitt sina som vem vad vilken
        vilket vilka när var varför hur denna detta dessa och eller men för att om så då än i på av
        med från till hos under över mellan genom mot utan vid är var vara varit blir bli blev har
        ha hade kan kunde ska skall skulle måste får vill inte ej också mycket mer alla andra
        """,
    "ru": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее
        мне было вот от меня еще нет о об из ему теперь когда даже ну ли если уже или ни быть был
        него до вас опять вам ведь там потом себя ничего ей они тут где есть надо ней для мы тебя
        их чем была сам чтоб без чего тоже себе под будет тогда кто этот того потому этого какой
        какая какое какие каком каким каких ним здесь этом почти мой тем чтобы нее были куда зачем
        всех при об другой хоть после над больше тот через эти нас про них какова много сколько
        который которая которое которые которого которой которых почему каков это эта этой эту
        """,
    "ar": """
        في من على إلى الى عن مع هذا هذه ذلك تلك التي الذي الذين ما ماذا متى أين اين كيف لماذا من
        هل كم أي اي أو او أم ام ثم لا لم لن ليس ليست كان كانت يكون تكون كانوا قد و ف ب ل ك أن ان إن
        إذا اذا لو حتى بعد قبل عند عندما بين كل بعض غير هو هي هم هن نحن أنا انا أنت انت كما لكن
        لكن حيث منذ خلال أيضا ايضا فقط هناك هنا به بها له لها فيه فيها عليه عليها منه منها
        """,
}


TOLD_BY_WORDS = tuple(_WORDS)

# That stand in English questions, too, some of them in names: "Microsoft Word", "Las Vegas".
_LOOKALIKES = """
    ail ate bent bin bis car che come comment con contra del den der des die din dir door dove era
    fare gli han hans hat hay hen her las les los mag man med men mer mes met mir mis non nos par
    pas per plus sans sem ses sig sin sina son soy stata sur tem ter till van var von war wat word
    """
LOOKALIKES = frozenset(_LOOKALIKES.split())


@cache
def stop_words(language: str) -> frozenset[str]:
    """Of a BCP 47 primary subtag; empty for a language without a list."""
    return frozenset(_WORDS.get(language, "").split())
