"""Whether a passage tries to give instructions to a language model. Pure, a leaf.

Above: handlers tell RCP callers, the admin marks it, chats warns its model. A sign, no proof: what
protects is that passages are only ever data. It looks for who is spoken to and what is asked, in
the languages that such texts are mostly written in.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

LONGEST = 20_000  # characters that are looked at
_HIDDEN_LEAST = 20  # characters of the block that shows as nothing and spells out ASCII


@dataclass(frozen=True, slots=True)
class Sign:
    pattern: re.Pattern[str]
    needs: tuple[str, ...]  # one of these, or the pattern, which is slow, cannot match


def _sign(pattern: str, *needs: str) -> Sign:
    return Sign(re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.DOTALL), needs)


_EARLIER = r"(?:previous|prior|earlier|preceding|above|foregoing|original|initial|existing|system)"
_ORDERS = (
    r"(?:instruction|prompt|direction|directive|guideline|rule|command|constraint|order|context"
    r"|message)s?"
)
_MODEL = r"(?:an? )?(?:\w+ )?(?:ai(?: (?:assistant|agent|model))?|llm|language model|chatbot)s?"
_SIGNS = (
    # Set aside what was said before.
    _sign(
        r"\b(?:ignore|disregard|forget|override|bypass|overlook|discard)\b"
        rf"(?:\W+\w+){{0,4}}?\W+(?:{_EARLIER}|your|these|those|other)"
        rf"\W+(?:\w+\W+){{0,2}}?{_ORDERS}\b",
        *("ignore", "disregard", "forget", "override", "bypass", "overlook", "discard"),
    ),
    _sign(
        r"\b(?:ignore|disregard|forget)\W+(?:everything|anything|all)\W+(?:\w+\W+){0,3}?"
        r"(?:above|before|previously|so far|you (?:were|have been) told)",
        *("ignore", "disregard", "forget"),
    ),
    _sign(
        r"\b(?:do not|don't|stop|quit) (?:follow|obey|listen(?:ing)? to)(?:ing)?\b"
        rf"(?:\W+\w+){{0,3}}?\W+(?:{_EARLIER}|your)\W+(?:\w+\W+){{0,2}}?{_ORDERS}\b",
        *("follow", "obey", "listen"),
    ),
    _sign(
        r"\b(?:ignore|disregard|forget) (?:(?:what(?:ever)?|anything) )?(?:the user|the question)\b"
        r"|\b(?:disregard|ignore|bypass) (?:all |any |your )*safety|\bforget your training\b"
        rf"|\byour {_EARLIER} {_ORDERS} (?:is|are) (?:void|cancell?ed|obsolete|no longer)\b"
        r"|\binstead of answering\b|\bdo not answer (?:the|this|any) (?:question|user)",
        *("the user", "the question", "answer", "safety", "training", "your "),
    ),
    _sign(
        r"\b(?:system|admin(?:istrator)?|developer|prompt) override\b|\boverride mode\b",
        "override",
    ),
    # Be someone else.
    _sign(
        r"\byou are (?:now|no longer)\W+(?:\w+\W+){0,3}?(?:ai|assistant|chatbot|bot|model|llm|dan"
        r"|unrestricted|unfiltered|jailbroken)\b",
        *("you are now", "you are no longer"),
    ),
    _sign(
        r"\b(?:act|behave|respond|pretend) as (?:if you (?:are|were) )?(?:an? )?"
        r"(?:\w+ ){0,2}?(?:unrestricted|unfiltered|jailbroken|uncensored|dan)\b",
        *("unrestricted", "unfiltered", "jailbroken", "uncensored", "dan"),
    ),
    _sign(
        r"(?:^|[.!?:;]\s+)(?:please )?(?:respond|reply|answer) (?:only|just) with\b"
        r"|\bpretend (?:that )?you (?:have|are|know) (?:no|not|without)\b"
        r"|(?:^|[.!?]\s+)new task\s*:|^\s*system\s*:\s*you\b",
        *("only with", "just with", "pretend", "new task", "system"),
    ),
    _sign(
        r"\bfrom now on\W+(?:you (?:will|must|shall|should|are to) )?(?:only |always )?"
        r"(?:answer|respond|reply|act|behave|speak|pretend|ignore|call yourself)\b",
        "from now on",
    ),
    _sign(
        r"\byour (?:new|real|actual|only|true) (?:task|goal|role|job|objective|mission|purpose"
        r"|instructions? (?:is|are))\b",
        "your ",
    ),
    # Spoken to as a model.
    _sign(
        rf"(?:^|[.!?:;]\s+)(?:(?:dear|hey|hello|hi|attention|note|all|any|to)\W+){{0,2}}{_MODEL}\s*[,:!]"
        r"|\b(?:ai|llm)s?(?: (?:assistant|agent|model)s?)? (?:reading|that reads?|who reads?"
        r"|processing|parsing) (?:this|the)\b"
        rf"|\bas {_MODEL},? you (?:must|should|shall|will|need|have to)\b",
        *("ai", "llm", "language model", "chatbot"),
    ),
    _sign(
        r"\b(?:ai|assistant|chatbot|llm) (?:must|shall|should) "
        r"(?:now |only |always |never )*(?:answer|respond|reply|say|obey|ignore|recommend)\b"
        r"|(?:^|[.!?]\s+)assistant,? (?:please )?"
        r"(?:stop|ignore|disregard|output|print|reveal|say)\b",
        *("ai ", "assistant", "chatbot", "llm"),
    ),
    _sign(
        r"\bwhen (?:you )?(?:summari[sz]|answer|describ|translat|review|quot|cit|asked? about)"
        r"\w*\W+(?:questions? about )?(?:this|the) "
        r"(?:page|document|text|article|passage|content|site)\b\W+(?:you |please )?"
        r"(?:must |should )?(?:always|never|say|claim|state|include|recommend|add|append|mention"
        r"|tell)\b",
        "when ",
    ),
    _sign(
        r"\b(?:append|add|include|insert|prefix)\b[^.\n]{0,80}?"
        r"\b(?:to|in|into) (?:every|each|your) (?:\w+ ){0,2}?"
        r"(?:answer|response|reply|replies|summary)",
        *("answer", "response", "repl", "summary"),
    ),
    _sign(
        r"\b(?:note|message|attention|instructions?|important|notice)\b\W+(?:\w+\W+){0,2}?"
        rf"(?:to|for)\W+(?:\w+\W+){{0,2}}?{_MODEL}\b[^.\n]{{0,40}}?[:,!]",
        *(" ai", "llm", "language model", "chatbot"),
    ),
    _sign(
        rf"\b(?:if|when|since|as) you(?: are|'re)\W+{_MODEL}\b",
        *(" ai", "llm", "language model", "chatbot"),
    ),
    # Give away what is secret, keep quiet about it.
    _sign(
        r"\b(?:reveal|print|repeat|output|show|leak|disclose|send)\b(?:\W+\w+){0,4}?\W+"
        r"(?:your|the|its)\W+(?:hidden |secret |full |entire |initial |original )*"
        r"(?:system prompt|system message|initial prompt|hidden instructions)",
        *("system prompt", "system message", "initial prompt", "hidden instructions"),
    ),
    _sign(
        r"\b(?:do not|don't|never) (?:mention|tell|reveal|disclose)\b.{0,60}"
        r"\b(?:this instruction|these instructions|this prompt|to the user)\b",
        *("this instruction", "these instructions", "this prompt", "to the user"),
    ),
    _sign(
        r"\b(?:new|updated|real|actual|true) (?:system )?(?:instructions?|prompt)\s*:",
        *("instruction", "prompt"),
    ),
    # The marks of chat templates, and ours.
    _sign(
        r"<\|?\s*(?:im_start|im_end|system|assistant|endoftext|start_header_id|eot_id)\s*\|>",
        "|>",
    ),
    _sign(r"\[/?INST\]|<</?SYS>>|<start_of_turn>", "inst]", "sys>>", "<start_of_turn>"),
    _sign(r"^\s*#{2,}\s*(?:system|assistant|instructions?)\s*:\s*$", "##"),
    _sign(r"</\s*passages?\s*>", "passage"),
    # Other languages: set aside, earlier, instructions.
    _sign(
        r"\b(?:ignorier\w*|missacht\w*|vergiss|vergesst)\b.{0,40}"
        r"\b(?:anweisung|instruktion|vorgabe|regel)\w*",
        *("anweisung", "instruktion", "vorgabe", "regel"),
    ),
    _sign(
        r"\b(?:ignor\w*|oubli\w*)\b.{0,40}\b(?:instructions?|consignes?|règles?)\b.{0,20}"
        r"\b(?:précédent|antérieur|ci-dessus)\w*",
        *("instruction", "consigne", "règle"),
    ),
    _sign(
        r"\b(?:ignor\w*|olvid\w*)\b.{0,40}\b(?:instrucci[oó]n|instruç[oõ]|orden)\w*.{0,20}"
        r"\b(?:anterior|previ)\w*",
        *("instrucc", "instruç", "orden"),
    ),
    _sign(
        r"(?:игнорир|забудь|не обращай)\w*.{0,40}(?:инструкц|указани|команд)\w*",
        *("инструкц", "указани", "команд"),
    ),
    _sign(
        r"(?:忽略|无视|忽視|無視|忘记|忘掉|不要理会).{0,20}"
        r"(?:指令|指示|提示|说明|規則|规则|命令)",
        *("忽", "无视", "無視", "忘", "理会"),
    ),
    _sign(r"你现在是.{0,20}(?:AI|助手|模型|机器人)", "你现在是"),
    _sign(r"(?:指示|命令|プロンプト|ルール).{0,12}(?:無視|忘れ)", "無視", "忘れ"),
    _sign(
        r"(?:تجاهل|انس).{0,40}(?:التعليمات|الأوامر|الإرشادات)", "التعليمات", "الأوامر", "الإرشادات"
    ),
)


@lru_cache(maxsize=1024)  # the same passages answer many questions
def injection_suspected(text: str) -> bool:
    text = text[:LONGEST]
    if not text.isascii():
        if sum("\U000e0020" <= character <= "\U000e007e" for character in text) >= _HIDDEN_LEAST:
            return True
        text = _plain(text)
    folded = text.lower()
    return any(
        any(needed in folded for needed in sign.needs) and sign.pattern.search(text)
        for sign in _SIGNS
    )


def _plain(text: str) -> str:
    """Without what only serves to hide a word: full width, invisible characters, odd quotes."""
    folded = unicodedata.normalize("NFKC", text).replace("’", "'")
    return "".join(one for one in folded if unicodedata.category(one) != "Cf")
